import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { isUint8Array } from 'node:util/types';

import { OptionsError } from '../../common/options.error.js';
import { HMAC_RULE, isHmacSecret, isSymmetric, usableSecrets, warnOnce } from './webhook-secret.rules.js';

const NO_PUBLIC_KEY =
  'verifySignature: a whpk_ key is ignored, because X-Signature cannot be made with its private key; use verifyStandardWebhook';

/**
 * Returns the signature of a webhook body: the lowercase hexadecimal HMAC-SHA1 of its UTF-8 bytes, keyed with the text
 * of the shared secret.
 *
 * @throws {OptionsError} if the secret is empty, is `whsec_` with less than 24 bytes of base64, is a key of an asymmetric
 * signature (`whsk_`, `whpk_`), or begins or ends with white space or a quote.
 * @see docs/specification.md, "Signatures"
 */
export function signBody(body: string | Uint8Array, secret: string): string {
  if (!isHmacSecret(secret)) {
    throw new OptionsError('signBody', [secret ? HMAC_RULE : 'the secret must not be empty']);
  }
  return hmacOf(body, secret);
}

/** Same as {@link signBody}, without checking the key. */
export function hmacOf(body: string | Uint8Array, key: string | KeyObject): string {
  return createHmac('sha1', key).update(body).digest('hex');
}

/**
 * Returns whether `signature`, the value of the `X-Signature` header, matches the body under any of the secrets. Never
 * throws: it returns `false` for a missing body or header, for a header that is an array, and for a secret that
 * `signBody` refuses, which also causes a process warning, once. A `whpk_` key verifies none: its requests have no
 * `X-Signature`.
 * It authenticates the sender and the body, but not the time or id: a captured request can be replayed with another
 * `X-Message-Id`. {@link verifyStandardWebhook} covers time and id as well.
 *
 * @param rawBody the body's bytes as received; a body that was parsed and serialized again may differ.
 * @param secrets the shared secret, or all secrets that are valid during rotation.
 */
export function verifySignature(
  rawBody: string | Uint8Array | undefined,
  signature: string | string[] | undefined,
  secrets: string | readonly string[] | undefined,
): boolean {
  const usable = usableSecrets('verifySignature', secrets);
  const symmetric = usable.filter(isSymmetric); // anyone could sign with a public key
  if (symmetric.length < usable.length) warnOnce(NO_PUBLIC_KEY);
  if (typeof signature !== 'string' || !isBody(rawBody)) return false;
  return symmetric.some((secret) => isEqual(signature, hmacOf(rawBody, secret)));
}

/** Returns whether a value is a raw body. Some body parsers do not keep it. */
export function isBody(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || isUint8Array(value);
}

/** Compares signatures in constant time. */
export function isEqual(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}
