import { createHmac, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';

import {
  OptionsError,
  publicKeyOf,
  signBody,
  verifySignature,
  verifyStandardWebhook,
  WebhookSignatureGuard,
} from 'nestjs-analytics-relay';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { fakeTimers } from '../../support/clock.js';

/** Key, message and signature of the tests of Svix's server, which the specification shows as its example. */
const SVIX = {
  secret: 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==',
  seed: 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc=',
  publicKey: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=',
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
  },
};

const NOW = 1_763_812_345;
const body = '{"type":"track","note":"Zoë"}';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
const PUBLIC = `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
const PRIVATE = `whsk_${Buffer.from(d, 'base64url').toString('base64')}`;
const OTHER = publicKeyOf(`whsk_${randomBytes(32).toString('base64')}`)!;
const SHARED = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** Headers of a request that was signed with the private key. */
function signed(content: string | Buffer = body, at = NOW, id = 'shop:m1') {
  const bytes = Buffer.concat([Buffer.from(`${id}.${at}.`), Buffer.from(content)]);
  const signature = sign(null, bytes, privateKey).toString('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1a,${signature}` };
}

describe('verifyStandardWebhook, with a public key', () => {
  beforeEach(() => void fakeTimers({ now: NOW * 1_000 + 900 }));
  afterEach(() => void vi.useRealTimers());

  it('accepts what the server of Svix has signed', () => {
    vi.setSystemTime(1_614_265_330_000);
    expect(verifyStandardWebhook(SVIX.body, SVIX.headers, SVIX.publicKey)).toBe(true);
    expect(verifyStandardWebhook(SVIX.body, SVIX.headers, PUBLIC)).toBe(false);
  });

  it('accepts text, bytes and bytes that are no UTF-8', () => {
    expect(verifyStandardWebhook(body, signed(), PUBLIC)).toBe(true);
    expect(verifyStandardWebhook(Buffer.from(body), signed(), PUBLIC)).toBe(true);
    const bytes = Buffer.from([0xff, 0xfe, 0]);
    expect(verifyStandardWebhook(bytes, signed(bytes), PUBLIC)).toBe(true);
    expect(verifyStandardWebhook(Buffer.from('\ufffd\ufffd\0'), signed(bytes), PUBLIC)).toBe(false);
  });

  it('accepts a key without padding', () => {
    expect(verifyStandardWebhook(body, signed(), PUBLIC.replace('=', ''))).toBe(true);
  });

  it('accepts a request under one of several keys, whichever signed', () => {
    const symmetric = new Webhook(SHARED).sign('shop:m1', new Date(NOW * 1_000), body);
    const both = { ...signed(), 'webhook-signature': `${symmetric} ${signed()['webhook-signature']}` };
    expect(verifyStandardWebhook(body, both, PUBLIC)).toBe(true);
    expect(verifyStandardWebhook(body, both, SHARED)).toBe(true);
    expect(verifyStandardWebhook(body, signed(), [OTHER, SHARED, PUBLIC])).toBe(true);
    expect(verifyStandardWebhook(body, { ...signed(), 'webhook-signature': symmetric }, [PUBLIC, SHARED])).toBe(true);
  });

  const { 'webhook-signature': signature } = signed();
  const bytes = Buffer.from(signature.slice('v1a,'.length), 'base64');
  it.each<[string, unknown, unknown]>([
    ['another body', `${body} `, signed()],
    ['another id', body, { ...signed(), 'webhook-id': 'web:m1' }],
    ['another time', body, { ...signed(), 'webhook-timestamp': String(NOW + 1) }],
    ['an old request', body, signed(body, NOW - 301)],
    ['a request from the future', body, signed(body, NOW + 301)],
    ['an id that takes a part of the rest', body, { ...signed(), 'webhook-id': `shop:m1.${NOW}` }],
    ['the scheme of shared secrets', body, { ...signed(), 'webhook-signature': signature.replace('v1a', 'v1') }],
    ['no scheme', body, { ...signed(), 'webhook-signature': signature.slice('v1a,'.length) }],
    ['a cut signature', body, { ...signed(), 'webhook-signature': signature.slice(0, -4) }],
    [
      'a longer signature',
      body,
      { ...signed(), 'webhook-signature': `v1a,${Buffer.concat([bytes, bytes]).toString('base64')}` },
    ],
    ['an empty signature', body, { ...signed(), 'webhook-signature': 'v1a,' }],
    ['no base64', body, { ...signed(), 'webhook-signature': `v1a,${'é'.repeat(86)}==` }],
    [
      'a signature with other characters in it',
      body,
      { ...signed(), 'webhook-signature': signature.replace(',', ',\n') },
    ],
    ['no body', undefined, signed()],
    ['a parsed body', {}, signed()],
    ['no headers', body, undefined],
  ])('refuses %s', (_what, rawBody, headers) => {
    expect(verifyStandardWebhook(rawBody as string, headers as ReturnType<typeof signed>, PUBLIC)).toBe(false);
  });

  it('never takes a public key for a shared secret, whose holder can sign', () => {
    for (const key of [PUBLIC, PUBLIC.slice('whpk_'.length), Buffer.from(x, 'base64url')]) {
      const forged = createHmac('sha256', key).update(`shop:m1.${NOW}.${body}`).digest('base64');
      for (const scheme of ['v1', 'v1a']) {
        const headers = { ...signed(), 'webhook-signature': `${scheme},${forged}` };
        expect(verifyStandardWebhook(body, headers, PUBLIC)).toBe(false);
      }
    }
    const forged = createHmac('sha1', PUBLIC).update(body).digest('hex');
    expect(verifySignature(body, forged, PUBLIC)).toBe(false);
    expect(verifySignature(body, signBody(body, SHARED), [PUBLIC, SHARED])).toBe(true);
  });

  it('verifies only a few of the signatures that a stranger sends', () => {
    const wrong = `v1a,${randomBytes(64).toString('base64')}`;
    const after = (count: number) => ({
      ...signed(),
      'webhook-signature': [...Array.from({ length: count }, () => wrong), signature].join(' '),
    });
    expect(verifyStandardWebhook(body, after(1), PUBLIC)).toBe(true);
    expect(verifyStandardWebhook(body, after(100), PUBLIC)).toBe(false);
  });

  /** Public keys of small order, from RFC 7748: 1, -1, 0 and their spellings with another sign, or beyond the prime. */
  const weak = ['01', 'ec', '00', 'ed', 'ee'].flatMap((first) => {
    const [rest, last] = first.startsWith('e') ? ['ff', '7f'] : ['00', '00'];
    const hex = first + rest.repeat(30) + last;
    return [hex, hex.slice(0, -2) + (Number.parseInt(last, 16) | 0x80).toString(16)];
  });
  it.each([
    ...weak,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ])('refuses everything under the key %s, under which anyone can sign', (hex) => {
    const key = Buffer.from(hex, 'hex');
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
    const forged = Buffer.concat([Buffer.from(`01${'00'.repeat(31)}`, 'hex'), Buffer.alloc(32)]);
    const accepted = Array.from({ length: 200 }, (_, index) => index).filter((index) => {
      const headers = {
        ...signed(),
        'webhook-id': `m${index}`,
        'webhook-signature': `v1a,${forged.toString('base64')}`,
      };
      expect(verifyStandardWebhook(body, headers, `whpk_${key.toString('base64')}`)).toBe(false);
      const content = Buffer.from(`m${index}.${NOW}.${body}`);
      return verify(null, content, createPublicKey({ key: jwk, format: 'jwk' }), forged);
    });
    if (hex.startsWith('01')) expect(accepted).toHaveLength(200); // so it is the rule that refuses them
  });
});

describe('Keys', () => {
  it('have the public key of a seed, and of a seed with its public key', () => {
    expect(publicKeyOf(SVIX.secret)).toBe(SVIX.publicKey);
    expect(publicKeyOf(SVIX.seed)).toBe(SVIX.publicKey);
    expect(publicKeyOf(PRIVATE)).toBe(PUBLIC);
    expect(publicKeyOf(PRIVATE.replace('=', ''))).toBe(PUBLIC);
    expect(publicKey.export({ format: 'jwk' }).x).toBe(x);
  });

  it.each([
    ['a shared secret', SHARED],
    ['text', 'a secret of 24 bytes ...'],
    ['a public key', PUBLIC],
    ['a prefix', 'whsk_'],
    ['31 bytes', `whsk_${Buffer.alloc(31, 7).toString('base64')}`],
    ['33 bytes', `whsk_${Buffer.alloc(33, 7).toString('base64')}`],
    ['the public key of another seed', `whsk_${Buffer.alloc(64, 7).toString('base64')}`],
    ['no base64', `whsk_${'-'.repeat(43)}=`],
    ['a value that is not a string', undefined],
  ])('have none of %s', (_what, secret) => {
    expect(publicKeyOf(secret as string)).toBeUndefined();
  });

  it.each([PRIVATE, PUBLIC])('make no X-Signature (%s)', (key) => {
    expect(() => signBody(body, key)).toThrow(/^signBody: .*whsk_ and whpk_ keys make no X-Signature/);
  });

  it.each([
    ['a private key, which receivers must not have', PRIVATE],
    ['a prefix without a key', 'whpk_'],
    ['31 bytes', `whpk_${Buffer.alloc(31, 7).toString('base64')}`],
    ['64 bytes', `whpk_${Buffer.alloc(64, 7).toString('base64')}`],
    ['no base64', `whpk_${'-'.repeat(43)}=`],
    ['a key under which anyone can sign', `whpk_${Buffer.alloc(32).toString('base64')}`],
  ])('are refused by WebhookSignatureGuard: %s', (_what, key) => {
    expect(() => new WebhookSignatureGuard(key)).toThrow(OptionsError);
    expect(() => new WebhookSignatureGuard([SHARED, key])).toThrow(/after whpk_ of an Ed25519 public key/);
  });
});
