import { createHmac } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { OptionsError, verifyStandardWebhook } from 'nestjs-analytics-relay';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeTimers } from '../../support/clock.js';

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const OTHER = `whsec_${Buffer.alloc(32, 'other').toString('base64')}`;
const body = '{"type":"track","note":"Zoë"}';
const NOW = 1_763_812_345;

type SignedHeaders = Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>;

/** Headers as the library of Standard Webhooks signs them. */
function sign(secret = SECRET, at = NOW, id = 'shop:m1'): SignedHeaders {
  const signature = new Webhook(secret).sign(id, new Date(at * 1_000), body);
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature };
}

describe('verifyStandardWebhook', () => {
  beforeEach(() => void fakeTimers({ now: NOW * 1_000 + 900 }));
  afterEach(() => void vi.useRealTimers());

  it('accepts what the library of Standard Webhooks has signed, as text and as bytes', () => {
    expect(verifyStandardWebhook(body, sign(), SECRET)).toBe(true);
    expect(verifyStandardWebhook(Buffer.from(body), sign(), SECRET)).toBe(true);
    expect(verifyStandardWebhook(new Uint8Array(Buffer.from(body)), sign(), SECRET)).toBe(true);
  });

  it('accepts headers as Node, fetch and others have them', () => {
    const request = new IncomingMessage(new Socket());
    Object.assign(request.headers, sign());
    expect(verifyStandardWebhook(body, request.headers, SECRET)).toBe(true);
    expect(verifyStandardWebhook(body, new Headers(sign()), SECRET)).toBe(true);
    const entries = Object.entries(sign()).map(([name, value]) => [name.replace('webhook', 'Webhook'), value]);
    expect(verifyStandardWebhook(body, Object.fromEntries(entries) as Record<string, string>, SECRET)).toBe(true);
  });

  it.each([
    ['one of the secrets', sign(), [OTHER, SECRET]],
    [
      'one of the signatures',
      { 'webhook-signature': `${sign(OTHER)['webhook-signature']} v1a,eA== ${sign()['webhook-signature']}` },
      SECRET,
    ],
    ['a secret beside one that is none', sign(), ['whsec_', SECRET]],
  ])('accepts a request under %s', (_what, headers, secrets) => {
    expect(verifyStandardWebhook(body, { ...sign(), ...headers }, secrets)).toBe(true);
  });

  it('takes a secret without padding as the library does', () => {
    const unpadded = OTHER.replace(/=+$/, '');
    expect(unpadded).not.toBe(OTHER);
    expect(verifyStandardWebhook(body, sign(unpadded), unpadded)).toBe(true);
    expect(verifyStandardWebhook(body, sign(OTHER), unpadded)).toBe(true);
  });

  it('takes a secret without whsec_ as text', () => {
    const secret = 'sécret of 24 bytes, éé!';
    const signature = createHmac('sha256', secret).update(`shop:m1.${NOW}.${body}`).digest('base64');
    expect(verifyStandardWebhook(body, { ...sign(), 'webhook-signature': `v1,${signature}` }, secret)).toBe(true);
  });

  it.each([-301, -300, 300, 301])('knows a request that is %d s from now', (seconds) => {
    const isRecent = Math.abs(seconds) <= 300;
    expect(verifyStandardWebhook(body, sign(SECRET, NOW + seconds), SECRET)).toBe(isRecent);
    const tolerance = Math.abs(seconds) * 1_000;
    expect(verifyStandardWebhook(body, sign(SECRET, NOW + seconds), SECRET, { tolerance })).toBe(true);
    expect(verifyStandardWebhook(body, sign(SECRET, NOW + seconds), SECRET, { tolerance: tolerance - 1 })).toBe(false);
  });

  const { 'webhook-signature': signature } = sign();
  it.each<[string, unknown, unknown]>([
    ['another secret', body, sign(OTHER)],
    ['another body', `${body} `, sign()],
    ['another id', body, { ...sign(), 'webhook-id': 'web:m1' }],
    ['another time', body, { ...sign(), 'webhook-timestamp': String(NOW + 1) }],
    ['an id that takes a part of the rest', body, { ...sign(), 'webhook-id': `shop:m1.${NOW}` }],
    ['no id', body, { ...sign(), 'webhook-id': undefined }],
    ['no time', body, { ...sign(), 'webhook-timestamp': undefined }],
    ['no signature', body, { ...sign(), 'webhook-signature': undefined }],
    ['an empty signature', body, { ...sign(), 'webhook-signature': '' }],
    ['a signature without version', body, { ...sign(), 'webhook-signature': signature.slice(3) }],
    ['a signature of another version', body, { ...sign(), 'webhook-signature': signature.replace('v1,', 'v1a,') }],
    ['a cut signature', body, { ...sign(), 'webhook-signature': signature.slice(0, -1) }],
    ['characters beyond ASCII', body, { ...sign(), 'webhook-signature': 'é'.repeat(47) }],
    ['arrays, as repeated headers may be', body, { ...sign(), 'webhook-signature': [signature] }],
    ['a time with a sign', body, { ...sign(), 'webhook-timestamp': `+${NOW}` }],
    ['a time that is no number', body, { ...sign(), 'webhook-timestamp': 'NaN' }],
    ['a time beyond all bounds', body, { ...sign(), 'webhook-timestamp': '9'.repeat(400) }],
    ['no body', undefined, sign()],
    ['a parsed body', {}, sign()],
    ['no headers', body, undefined],
    ['null for headers', body, null],
    ['a string for headers', body, 'webhook-id'],
  ])('refuses %s', (_what, rawBody, headers) => {
    expect(verifyStandardWebhook(rawBody as string, headers as SignedHeaders, SECRET)).toBe(false);
  });

  it.each([
    ['', ''],
    [undefined, ''],
    [[], ''],
    ['whsec_', ''],
    ['whsec_!!!!', ''],
    [`whsec_${Buffer.alloc(23, 7).toString('base64')}`, Buffer.alloc(23, 7)],
    ['a secret of 23 bytes ..', 'a secret of 23 bytes ..'],
  ])('refuses everything under %j', (secret, key) => {
    const forged = createHmac('sha256', key).update(`shop:m1.${NOW}.${body}`).digest('base64');
    const headers = { ...sign(), 'webhook-signature': `v1,${forged}` };
    expect(verifyStandardWebhook(body, headers, secret as string)).toBe(false);
  });

  it.each([-1, NaN, '300', null])('does not take %j for a tolerance', (tolerance) => {
    const verify = () => verifyStandardWebhook(body, sign(), SECRET, { tolerance: tolerance as number });
    const rule = 'tolerance must be a number of milliseconds, 0 or above';
    expect(verify).toThrow(new OptionsError('verifyStandardWebhook', [rule]));
  });
});
