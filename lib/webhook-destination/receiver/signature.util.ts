import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { isUint8Array } from 'node:util/types';

import { OptionsError } from '../../common/options.error.js';
import { isNonEmptyString } from '../../common/value.util.js';

/**
 * The signature of a webhook's body: lowercase hexadecimal HMAC-SHA1 of its UTF-8 bytes, keyed with the shared
 * secret (§5.1).
 *
 * @throws {OptionsError} for an empty secret, with which anybody could sign.
 */
export function signBody(body: string | Uint8Array, secret: string | KeyObject): string {
  if (secret === '') throw new OptionsError('signBody', ['the secret must not be empty']);
  return createHmac('sha1', secret).update(body).digest('hex');
}

let hasWarned = false;

/**
 * Whether `signature`, the value of the `X-Signature` header, is that of the body under the secret or one of the
 * secrets (§5.1). Never throws: it returns `false` for a missing body or header, for a header that is an array, and for
 * a secret that is empty or not set, which is also a process warning, once.
 * It proves who sent the body, not when: a captured request can be sent again, so drop a repeated `X-Message-Id`.
 *
 * @param rawBody the body's bytes as received: a body that was parsed and stringified again may differ.
 * @param secrets the shared secret, or all that are valid while it is rotated.
 */
export function verifySignature(
  rawBody: string | Uint8Array | undefined,
  signature: string | string[] | undefined,
  secrets: string | readonly string[] | undefined,
): boolean {
  const keys = [secrets].flat().filter(isNonEmptyString);
  if (keys.length === 0) warnOfMissingSecret();
  if (typeof signature !== 'string' || !(typeof rawBody === 'string' || isUint8Array(rawBody))) return false;
  const given = Buffer.from(signature);
  return keys.some((secret) => {
    const expected = Buffer.from(signBody(rawBody, secret));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function warnOfMissingSecret(): void {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning('verifySignature: the secret is empty or not set, so every webhook is refused', 'WebhookWarning');
}

/** @throws {OptionsError} unless there is a secret, and each is a non-empty string. */
export function checkSecrets(subject: string, secrets: unknown): void {
  const all: unknown[] = [secrets].flat();
  if (all.length === 0 || !all.every(isNonEmptyString)) {
    throw new OptionsError(subject, ['the secret must be a non-empty string, or an array of them']);
  }
}

/** The signature that the `webhook-signature` header of Standard Webhooks carries, for one key. */
export function signStandardWebhook(id: string, timestamp: number, body: Uint8Array, key: Uint8Array): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

/** A shared secret as a key of Standard Webhooks: what follows `whsec_` is base64; any other secret is taken as text. */
export function standardWebhookKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}
