import { isNonEmptyString } from '../../common/value.util.js';

const STANDARD_PREFIX = 'whsec_';

/** Least length of a Standard Webhooks key, in bytes: its specification asks for 192 bits. */
export const MIN_STANDARD_KEY_BYTES = 24;

/** The rule of secrets that begin with `whsec_`, for errors. */
export const STANDARD_SECRET_RULE = `after whsec_, a secret must be base64 of at least ${MIN_STANDARD_KEY_BYTES} bytes`;

/** Whether a secret has the form of Standard Webhooks. */
export function isStandardSecret(secret: string): boolean {
  return secret.startsWith(STANDARD_PREFIX);
}

/**
 * A secret as a key of Standard Webhooks: after `whsec_`, it is base64; any other secret is text. Undefined if it is not
 * base64, or too short.
 */
export function toStandardKey(secret: string): Buffer | undefined {
  const key = isStandardSecret(secret) ? decodeBase64(secret.slice(STANDARD_PREFIX.length)) : Buffer.from(secret);
  return key && key.length >= MIN_STANDARD_KEY_BYTES ? key : undefined;
}

/** Whether a secret may sign and verify: an empty one, or `whsec_` without a key, can be guessed. */
export function isUsableSecret(value: unknown): value is string {
  return isNonEmptyString(value) && (!isStandardSecret(value) || toStandardKey(value) !== undefined);
}

/** With or without padding. Buffer skips characters that are not base64, so the result is compared. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return withoutPadding(bytes.toString('base64')) === withoutPadding(text) ? bytes : undefined;
}

function withoutPadding(text: string): string {
  return text.replace(/={1,2}$/, '');
}

const warned = new Set<string>();

/**
 * The valid secrets. If there is none, or one is invalid, a process warning says so once: it is the receiver that is
 * misconfigured, not the request.
 */
export function usableSecrets(subject: string, secrets: string | readonly string[] | undefined): string[] {
  const given = [secrets].flat().filter(isNonEmptyString);
  const usable = given.filter(isUsableSecret);
  if (given.length === 0) warnOnce(`${subject}: the secret is empty or not set, so every webhook is refused`);
  if (usable.length < given.length) warnOnce(`${subject}: ${STANDARD_SECRET_RULE}; other secrets verify nothing`);
  return usable;
}

/** A process warning, once. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(message, 'WebhookWarning');
}
