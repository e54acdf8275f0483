import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';

/**
 * Returns whether a webhook is genuine.
 *
 * @param body raw body as received: a Buffer or a string, not parsed
 * @param headers headers with names in lower case, as Node has them
 * @param key secret (whsec_...) or public key (whpk_...) of the endpoint
 */
export function isGenuine(body, headers, key) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers;
  if (!id || !signatures || !/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - time) > 300) return false;

  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), Buffer.from(body)]);
  const bytes = Buffer.from(key.replace(/^wh(sec|pk)_/, ''), 'base64');
  return signatures.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    const given = Buffer.from(text, 'base64');
    if (key.startsWith('whpk_')) {
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
      return version === 'v1a' && verify(null, signed, createPublicKey({ key: jwk, format: 'jwk' }), given);
    }
    const expected = createHmac('sha256', bytes).update(signed).digest();
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
