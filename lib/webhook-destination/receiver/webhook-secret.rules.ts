import { isNonEmptyString } from '../../common/value.util.js';

const STANDARD_PREFIX = 'whsec_';

/** Least length of a Standard Webhooks key, in bytes: its specification asks for 192 bits. */
export const MIN_STANDARD_KEY_BYTES = 24;

/** The rule of secrets that begin with `whsec_`, for errors. */
export const STANDARD_SECRET_RULE = `after whsec_, a secret must be base64 of at least ${MIN_STANDARD_KEY_BYTES} bytes`;

/** Whether a secret has the form of Standard Webhooks: its sender sends the headers of it. */
export function isStandardSecret(secret: string): boolean {
  return secret.startsWith(STANDARD_PREFIX);
}

/**
 * A secret as a key of Standard Webhooks: what follows `whsec_` is base64; any other secret is taken as text.
 * Undefined where that is no base64, or shorter than a key must be.
 */
export function toStandardKey(secret: string): Buffer | undefined {
  const key = isStandardSecret(secret) ? decodeBase64(secret.slice(STANDARD_PREFIX.length)) : Buffer.from(secret);
  return key && key.length >= MIN_STANDARD_KEY_BYTES ? key : undefined;
}

/** Whether a secret may sign and verify: one that is empty, or a `whsec_` without a key, can be guessed. */
export function isUsableSecret(value: unknown): value is string {
  return isNonEmptyString(value) && (!isStandardSecret(value) || toStandardKey(value) !== undefined);
}

/** With or without padding. Buffer skips what is not base64, so the outcome is compared. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return withoutPadding(bytes.toString('base64')) === withoutPadding(text) ? bytes : undefined;
}

function withoutPadding(text: string): string {
  return text.replace(/={1,2}$/, '');
}

const warned = new Set<string>();

/**
 * Those secrets that may verify. Without any, and for one that is no secret, there is a process warning, once: it is the
 * receiver that is set up wrongly, and each request would tell the same.
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
