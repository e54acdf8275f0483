import { RelayError } from '../relay.error.js';

/** Maximum length of a text that is quoted from an answer, in characters. */
const MAX_TEXT = 300;

const statuses = new WeakMap<object, number>();

/**
 * Creates the reason of a batch that was answered with an error status.
 *
 * @param said what the answer says of the reason, if anything
 */
export function createStatusError(status: number, statusText: string, said?: string): RelayError {
  const error = new RelayError('http_status', `[${status}] ${statusText}${said ? `: ${said}` : ''}`);
  statuses.set(error, status);
  return error;
}

/** Returns the status of a reason made by {@link createStatusError}; undefined for any other. */
export function statusOf(reason: unknown): number | undefined {
  return statuses.get(reason as object);
}

/**
 * Returns the reason that a relay's answer has, as `text (code)`; undefined if it has none, as of other receivers.
 *
 * @param secrets a text that quotes one of them is left out
 */
export function readRefusal(body: string, secrets: string[]): string | undefined {
  try {
    const { code, message: text } = JSON.parse(body) as Record<string, unknown>;
    if (typeof code !== 'string' || typeof text !== 'string' || !/^[a-z\d_]{1,64}$/.test(code)) return undefined;
    if (secrets.some((secret) => text.includes(secret))) return code;
    return `${text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text} (${code})`;
  } catch {
    return undefined;
  }
}
