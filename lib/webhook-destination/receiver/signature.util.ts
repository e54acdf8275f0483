import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { isUint8Array } from 'node:util/types';

import { OptionsError } from '../../common/options.error.js';
import { isUsableSecret, STANDARD_SECRET_RULE, usableSecrets } from './webhook-secret.rules.js';

/**
 * The signature of a webhook's body: lowercase hexadecimal HMAC-SHA1 of its UTF-8 bytes, keyed with the text of the
 * shared secret.
 *
 * @throws {OptionsError} for a secret that can be guessed: an empty one, or `whsec_` with less than 24 bytes of base64.
 * @see docs/specification.md, "Signatures"
 */
export function signBody(body: string | Uint8Array, secret: string): string {
  if (!isUsableSecret(secret)) {
    throw new OptionsError('signBody', [secret ? STANDARD_SECRET_RULE : 'the secret must not be empty']);
  }
  return hmacOf(body, secret);
}

/** As {@link signBody}, without a check of the key. */
export function hmacOf(body: string | Uint8Array, key: string | KeyObject): string {
  return createHmac('sha1', key).update(body).digest('hex');
}

/**
 * Whether `signature`, the value of the `X-Signature` header, is that of the body under the secret or one of the
 * secrets. Never throws: it returns `false` for a missing body or header, for a header that is an array, and for
 * a secret that `signBody` refuses, which is also a process warning, once.
 * It authenticates the sender and the body, but neither time nor id: a captured request can be sent again, with another
 * `X-Message-Id`. {@link verifyStandardWebhook} covers all three.
 *
 * @param rawBody the body's bytes as received: a body that was parsed and stringified again may differ.
 * @param secrets the shared secret, or all that are valid while it is rotated.
 */
export function verifySignature(
  rawBody: string | Uint8Array | undefined,
  signature: string | string[] | undefined,
  secrets: string | readonly string[] | undefined,
): boolean {
  const usable = usableSecrets('verifySignature', secrets);
  if (typeof signature !== 'string' || !isBody(rawBody)) return false;
  return usable.some((secret) => isEqual(signature, hmacOf(rawBody, secret)));
}

/** Whether a value is a raw body, which some body parsers do not keep. */
export function isBody(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || isUint8Array(value);
}

/** Whether signatures are equal, compared in constant time. */
export function isEqual(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}
