import { createHmac } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import { signBody, verifySignature } from 'nestjs-analytics-relay';

describe('signBody', () => {
  it('is the lowercase hexadecimal HMAC-SHA1 of the UTF-8 bytes (RFC 2202, case 2)', () => {
    expect(signBody('what do ya want for nothing?', 'Jefe')).toBe('effcdf6ae5eb2fa2d27416d5f184df9c259a7c79');
  });

  it('is the same for text and for its bytes', () => {
    expect(signBody('{"name":"Zoë 🙂"}', 'sécret')).toBe(signBody(Buffer.from('{"name":"Zoë 🙂"}'), 'sécret'));
    expect(signBody('é', 's')).toBe(
      createHmac('sha1', 's')
        .update(Buffer.from([0xc3, 0xa9]))
        .digest('hex'),
    );
  });
});

describe('verifySignature', () => {
  const body = '{"type":"track"}';
  const signature = signBody(body, 'current');

  it.each([
    ['the secret', 'current'],
    ['one of the secrets', ['previous', 'current']],
  ])('accepts a signature under %s', (_what, secrets) => {
    expect(verifySignature(body, signature, secrets)).toBe(true);
    expect(verifySignature(Buffer.from(body), signature, secrets)).toBe(true);
  });

  it.each([
    ['another secret', body, signature, 'other'],
    ['no secret', body, signature, []],
    ['another body', `${body} `, signature, 'current'],
    ['no signature', body, undefined, 'current'],
    ['an empty signature', body, '', 'current'],
    ['a shorter signature', body, signature.slice(1), 'current'],
    ['a longer signature', body, `${signature}0`, 'current'],
    ['upper case', body, signature.toUpperCase(), 'current'],
    ['characters beyond ASCII', body, 'é'.repeat(40), 'current'],
  ])('refuses %s', (_what, rawBody, given, secrets) => {
    expect(verifySignature(rawBody, given, secrets)).toBe(false);
  });

  it('refuses what is no string, as a repeated header may be', () => {
    expect(verifySignature(body, [signature] as unknown as string, 'current')).toBe(false);
  });
});
