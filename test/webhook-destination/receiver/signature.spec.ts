import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { promisify } from 'node:util';

import type { RawBodyRequest } from '@nestjs/common';
import { OptionsError, signBody, verifySignature } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

const SECRET_RULE =
  'after whsec_, a secret must be base64 of at least 24 bytes; whsk_ and whpk_ keys make no X-Signature; others must not begin or end with white space or a quote';

/** Secrets with white space or a quote at an end, and those that look like Standard Webhooks and have no key. */
const noKeys = ['secret\n', "'secret'", 'whsec_', 'whsec_====', 'whsec_!!!', 'whsec_bmV3', `whsec_${'-'.repeat(40)}`];

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

  it('does not sign with an empty secret', () => {
    expect(() => signBody('{}', '')).toThrow(new OptionsError('signBody', ['the secret must not be empty']));
  });

  it.each(noKeys)('does not sign with %s', (secret) => {
    expect(() => signBody('{}', secret)).toThrow(new OptionsError('signBody', [SECRET_RULE]));
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
    ['another body', `${body} `, signature, 'current'],
    ['no body', undefined, signature, 'current'],
    ['no signature', body, undefined, 'current'],
    ['an array, as a repeated header may be', body, [signature], 'current'],
    ['an empty signature', body, '', 'current'],
    ['a shorter signature', body, signature.slice(1), 'current'],
    ['a longer signature', body, `${signature}0`, 'current'],
    ['upper case', body, signature.toUpperCase(), 'current'],
    ['characters beyond ASCII', body, 'é'.repeat(40), 'current'],
  ])('refuses %s', (_what, rawBody, given, secrets) => {
    expect(verifySignature(rawBody, given, secrets)).toBe(false);
  });

  it('takes what a request has, as it is typed', () => {
    const request: RawBodyRequest<IncomingMessage> = new IncomingMessage(new Socket());
    expect(verifySignature(request.rawBody, request.headers['x-signature'], 'current')).toBe(false);
    request.rawBody = Buffer.from(body);
    request.headers['x-signature'] = signature;
    expect(verifySignature(request.rawBody, request.headers['x-signature'], 'current')).toBe(true);
  });

  it.each([{}, null, 5])('refuses %j as the body, as some parsers leave it', (rawBody) => {
    expect(verifySignature(rawBody as unknown as string, signature, 'current')).toBe(false);
  });

  it.each([[''], [[]], [['', undefined]], [undefined]])('refuses everything without a secret: %j', (secrets) => {
    const signedWithNothing = createHmac('sha1', '').update(body).digest('hex');
    expect(verifySignature(body, signedWithNothing, secrets as string)).toBe(false);
    expect(verifySignature(body, undefined, secrets as string)).toBe(false);
  });

  it.each(noKeys)('refuses everything under %s', (secret) => {
    const signature = createHmac('sha1', secret).update(body).digest('hex');
    expect(verifySignature(body, signature, secret)).toBe(false);
    expect(verifySignature(body, signBody(body, 'current'), [secret, 'current'])).toBe(true);
  });

  it('warns once of a secret that is not set', async () => {
    const code = `const { verifySignature } = require('nestjs-analytics-relay');
      for (let i = 0; i < 3; i++) verifySignature('{}', 'x', process.env.NOT_SET);`;
    const { stderr } = await promisify(execFile)(process.execPath, ['--eval', code]);
    expect(stderr.match(/WebhookWarning: .*the secret is empty or not set/g)).toHaveLength(1);
  });
});
