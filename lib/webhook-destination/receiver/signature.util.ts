import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

/**
 * The signature of a webhook's body: lowercase hexadecimal HMAC-SHA1 of its UTF-8 bytes, keyed with the shared
 * secret (§5.1).
 */
export function signBody(body: string | Uint8Array, secret: string | KeyObject): string {
  return createHmac('sha1', secret).update(body).digest('hex');
}

/**
 * Whether `signature`, the value of the `X-Signature` header, is that of the body under the secret or one of the
 * secrets (§5.1).
 * It proves who sent the body, not when: a captured request can be sent again, so drop a repeated `X-Message-Id`.
 *
 * @param rawBody the body's bytes as received: a body that was parsed and stringified again may differ.
 */
export function verifySignature(
  rawBody: string | Uint8Array,
  signature: string | undefined,
  secrets: string | readonly string[],
): boolean {
  if (typeof signature !== 'string') return false;
  const given = Buffer.from(signature);
  return [secrets].flat().some((secret) => {
    const expected = Buffer.from(signBody(rawBody, secret));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** The signature that the `webhook-signature` header of Standard Webhooks carries, for one key. */
export function signStandardWebhook(id: string, timestamp: number, body: Uint8Array, key: Uint8Array): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

/** A shared secret as a key of Standard Webhooks: what follows `whsec_` is base64; any other secret is taken as text. */
export function standardWebhookKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}
