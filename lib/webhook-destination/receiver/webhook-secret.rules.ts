import { isNonEmptyString } from '../../common/value.util.js';

const STANDARD_PREFIX = 'whsec_';

/** Minimum length of a Standard Webhooks key, in bytes: the specification requires 192 bits. */
export const MIN_STANDARD_KEY_BYTES = 24;

/** Rule that {@link isUsableSecret} checks of a text, worded for error messages. */
export const SECRET_RULE =
  `after whsec_, a secret must be base64 of at least ${MIN_STANDARD_KEY_BYTES} bytes; ` +
  'others must not begin or end with white space or a quote';

/** Returns whether a secret has the prefix of Standard Webhooks. */
export function isStandardSecret(secret: string): boolean {
  return secret.startsWith(STANDARD_PREFIX);
}

/**
 * Returns the Standard Webhooks key of a secret: the base64 after `whsec_`, or the text of any other secret. Returns
 * undefined if the base64 is invalid or the key is too short.
 */
export function toStandardKey(secret: string): Buffer | undefined {
  const key = isStandardSecret(secret) ? decodeBase64(secret.slice(STANDARD_PREFIX.length)) : Buffer.from(secret);
  return key && key.length >= MIN_STANDARD_KEY_BYTES ? key : undefined;
}

/**
 * Returns whether a secret may sign and verify. An empty one, or `whsec_` without a key, can be guessed. White space or a
 * quote at an end comes from a file or a shell, and the other side does not have it.
 */
export function isUsableSecret(value: unknown): value is string {
  if (!isNonEmptyString(value)) return false;
  return isStandardSecret(value) ? toStandardKey(value) !== undefined : !/^[\s"'`]|[\s"'`]$/.test(value);
}

/** Accepts base64 with or without padding. Compares the result, because Buffer skips invalid characters. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return withoutPadding(bytes.toString('base64')) === withoutPadding(text) ? bytes : undefined;
}

function withoutPadding(text: string): string {
  return text.replace(/={1,2}$/, '');
}

const warned = new Set<string>();

/**
 * Returns the valid secrets. Emits a process warning, once, if there is none or one is invalid: the receiver is
 * misconfigured, not the request.
 */
export function usableSecrets(subject: string, secrets: string | readonly string[] | undefined): string[] {
  const given = [secrets].flat().filter(isNonEmptyString);
  const usable = given.filter(isUsableSecret);
  if (given.length === 0) warnOnce(`${subject}: the secret is empty or not set, so every webhook is refused`);
  if (usable.length < given.length) warnOnce(`${subject}: ${SECRET_RULE}; invalid secrets are ignored`);
  return usable;
}

/** Emits a process warning, once per message. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(message, 'WebhookWarning');
}
