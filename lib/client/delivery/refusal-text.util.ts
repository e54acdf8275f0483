import { isPlainObject } from '../message/message.rules.js';

/** Maximum length of a text that is quoted from an answer, in characters. */
const MAX_TEXT = 300;

const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Returns the reason that a relay's answer to a refused batch has, as `text (code)`; undefined if it has none, as of
 * other receivers.
 *
 * @param secrets a text that quotes one of them is left out
 */
export function readRefusal(body: string, secrets: string[]): string | undefined {
  const { code, message } = parse(body);
  if (typeof code !== 'string' || typeof message !== 'string' || !CODE.test(code)) return undefined;
  if (secrets.some((secret) => message.includes(secret))) return code;
  return `${message.length > MAX_TEXT ? `${message.slice(0, MAX_TEXT - 1)}…` : message} (${code})`;
}

function parse(body: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(body);
    return isPlainObject(answer) ? answer : {};
  } catch {
    return {};
  }
}
