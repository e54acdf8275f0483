import { createHmac } from 'node:crypto';

import {
  type DestinationOptions,
  memoryQueue,
  sqliteQueue,
  verifySignature,
  verifyStandardWebhook,
} from 'nestjs-analytics-relay';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { type ReceivedWebhook, Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

type Headers = Record<string, string>;

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

describe('A webhook', () => {
  const cleanUp = useCleanUps();
  let receiver: Receiver;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder(cleanUp);
    receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
  });

  /** What arrives of these messages at a destination with these options. */
  async function send(options: Partial<DestinationOptions>, ...messages: object[]): Promise<ReceivedWebhook[]> {
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url], ...options }],
      delivery: { initialRetryDelay: 20, maxRetryDelay: 20 },
    });
    cleanUp(() => relay.stop());
    await relay.service.accept('wk_shop', messages.length > 0 ? messages : [message]);
    return receiver.received(messages.length || 1);
  }

  const message = { type: 'track', userId: 'u1', event: 'Ordered', messageId: 'm1' };

  it('carries the content type, the product token and the messageId, and no signature without a secret', async () => {
    const [{ headers, method }] = (await send({ headers: { 'X-Env': 'prod', Authorization: 'Bearer t' } })) as [
      ReceivedWebhook,
    ];
    expect(method).toBe('POST');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'nestjs-analytics-relay/1.0',
      'x-message-id': 'm1',
      'x-env': 'prod',
      authorization: 'Bearer t',
    });
    expect(Object.keys(headers).filter((name) => /signature|^webhook-/.test(name))).toEqual([]);
  });

  it('is signed under the current secret, and while it is rotated under the previous one too', async () => {
    const [{ raw, headers }] = (await send({ sharedSecret: ['new', 'old'] })) as [ReceivedWebhook];
    expect(verifySignature(raw, headers['x-signature'] as string, 'new')).toBe(true);
    expect(verifySignature(raw, headers['x-signature-previous'] as string, 'old')).toBe(true);
    expect(verifySignature(raw, headers['x-signature'] as string, 'old')).toBe(false);
  });

  it('passes the well-known check that stringifies the parsed body again', async () => {
    const nasty = [
      { properties: { z: 1, a: 2, 10: 'b', 2: 'a', '-1': 0, '': null } },
      { properties: { float: 0.1, tiny: 1e-7, huge: 1e21, negative: -0, max: Number.MAX_SAFE_INTEGER } },
      { properties: { text: 'Zoë 🙂 \u2028 \u0000 \ud800 " \\ / <script>' } },
      { properties: JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":"s"}') as object },
      { properties: { nested: [[], {}, [null, true], { a: [{ b: 1 }] }], date: new Date(0) } },
      { properties: { absent: undefined }, context: { ip: '::1', page: { path: '/ä' } } },
    ].map((fields, index) => ({ ...message, ...fields, messageId: `m${index}` }));
    for (const { body, raw, headers } of await send({ sharedSecret: 'shh' }, ...nasty)) {
      const digest = createHmac('sha1', 'shh')
        .update(Buffer.from(JSON.stringify(body), 'utf-8'))
        .digest('hex');
      expect(digest).toBe(headers['x-signature']);
      expect(JSON.stringify(body)).toBe(raw.toString());
    }
  });

  it.each([
    ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', undefined],
    [`whsec_${Buffer.alloc(32, 'key').toString('base64').replace('=', '')}`, undefined],
    ['plain text of 24 bytes...', { format: 'raw' as const }],
  ])('is accepted by the Standard Webhooks library under %s', async (secret, format) => {
    const [{ raw, headers }] = (await send({ sharedSecret: secret, standardWebhooks: true })) as [ReceivedWebhook];
    expect(new Webhook(secret, format).verify(raw.toString(), headers as Headers)).toMatchObject({ event: 'Ordered' });
    expect(headers['webhook-id']).toBe('shop:m1');
    expect(verifySignature(raw, headers['x-signature'] as string, secret)).toBe(true);
    expect(() => new Webhook('whsec_b3RoZXI=').verify(raw.toString(), headers as Headers)).toThrow();
  });

  it('is accepted by the Standard Webhooks library under both secrets while they are rotated', async () => {
    const secrets: [string, string] = [SECRET, `whsec_${Buffer.alloc(24, 'old').toString('base64')}`];
    const [{ raw, headers }] = (await send({ sharedSecret: secrets, standardWebhooks: true })) as [ReceivedWebhook];
    for (const secret of secrets) new Webhook(secret).verify(raw.toString(), headers as Headers);
  });

  it.each([
    [
      'are there under a secret that is long enough',
      { sharedSecret: 'a secret of 24 bytes ...' },
      ['id', 'signature', 'timestamp'],
    ],
    ['are not under a shorter one', { sharedSecret: 'a shorter secret' }, []],
    ['are not where they are switched off', { sharedSecret: SECRET, standardWebhooks: false }, []],
  ])('by itself: the Standard Webhooks headers %s', async (_what, options, expected) => {
    const [{ headers }] = (await send(options)) as [ReceivedWebhook];
    const names = Object.keys(headers).filter((name) => name.startsWith('webhook-'));
    expect(names.sort()).toEqual(expected.map((name) => `webhook-${name}`));
  });

  it('while a short secret is replaced, is signed under the new one alone for Standard Webhooks', async () => {
    const [{ raw, headers }] = (await send({ sharedSecret: [SECRET, 'short'] })) as [ReceivedWebhook];
    expect(verifyStandardWebhook(raw, headers, SECRET)).toBe(true);
    expect(headers['webhook-signature']).not.toContain(' ');
    expect(verifySignature(raw, headers['x-signature-previous'], 'short')).toBe(true);
  });

  it('has the same id and a new Standard Webhooks timestamp at each attempt', async () => {
    receiver.statuses = [503, 200];
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url], sharedSecret: SECRET, standardWebhooks: true }],
      delivery: { initialRetryDelay: 1_250, maxRetryDelay: 1_250 },
    });
    cleanUp(() => relay.stop());
    await relay.service.accept('wk_shop', [message]);
    const [first, second] = (await receiver.received(2)) as [ReceivedWebhook, ReceivedWebhook];
    expect(second.raw).toEqual(first.raw);
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(Number(second.headers['webhook-timestamp'])).toBeGreaterThan(Number(first.headers['webhook-timestamp']));
    new Webhook(SECRET).verify(second.raw.toString(), second.headers as Headers);
  });

  it('has an id of its own in Standard Webhooks for each source, which senders cannot imitate', async () => {
    const names = ['shop', 'shop:m', 'web.shop', 'web%2Eshop', 'Zoë \r\n'];
    const relay = await Relay.start({
      sources: names.map((name, index) => ({ name, writeKey: `wk_${index}` })),
      destinations: [{ urls: [receiver.url], sharedSecret: SECRET }],
    });
    cleanUp(() => relay.stop());
    const ids = [
      'm',
      'm:m',
      ':m',
      'a\n7',
      'a%0A7',
      'a.7',
      'a%2E7',
      'x\ufffd',
      'x\ud800',
      'x\ud801',
      '\0',
      'é'.repeat(99),
    ];
    const messages = ids.map((messageId) => ({ ...message, messageId }));
    for (const [index] of names.entries()) await relay.service.accept(`wk_${index}`, messages);
    const webhooks = await receiver.received(names.length * ids.length);
    const distinct = (name: string) => new Set(webhooks.map(({ headers }) => headers[name] as string));
    expect(distinct('x-message-id').size).toBe(ids.length);
    expect(distinct('webhook-id').size).toBe(names.length * ids.length);
    expect([...distinct('webhook-id')].filter((id) => !/^[\w%~!*'()-]+:[\w%~!*'()-]+$/.test(id))).toEqual([]);
    for (const { raw, headers } of webhooks) new Webhook(SECRET).verify(raw.toString(), headers as Headers);
  });

  it.each([
    ['in memory', () => memoryQueue()],
    ['in SQLite', () => sqliteQueue({ path: folder.path('relay.db') })],
  ])('has the same ids at each attempt, whatever the sender chose (%s)', async (_where, queue) => {
    const ids = ['lone \ud800', 'lone \ud801', 'lone \ufffd', '\0', '\0"x"', '🙂', 'a%0A7', 'a\n7'];
    receiver.statuses = [...ids.map(() => 503), 200];
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url], sharedSecret: SECRET }],
      delivery: { initialRetryDelay: 20, maxRetryDelay: 20 },
      queue: queue(),
    });
    cleanUp(() => relay.stop());
    await relay.track(...ids);
    await relay.settled('delivered', ids.length);
    const attempts = receiver.webhooks.map(({ headers }) => [headers['x-message-id'], headers['webhook-id']].join());
    expect(new Set(attempts).size).toBe(ids.length);
    expect(attempts.length).toBeGreaterThanOrEqual(2 * ids.length);
    const found = await Promise.all(ids.map((messageId) => relay.service.deliveries({ messageId })));
    expect(found.map((records) => records.map(({ messageId }) => messageId))).toEqual(ids.map((id) => [id]));
  });

  it.each([
    ['m 1\r\nX-Evil: 1', 'm%201%0D%0AX-Evil%3A%201'],
    ['Zoë-🙂', 'Zo%C3%AB-%F0%9F%99%82'],
    ['lone \ud800', 'lone%20%ED%A0%80'],
    ['100%', '100%25'],
    ['a:b/c?d', 'a:b/c?d'],
  ])('carries the messageId %j so that a header can hold it', async (messageId, expected) => {
    const options = { sharedSecret: SECRET };
    const [{ raw, headers }] = (await send(options, { ...message, messageId })) as [ReceivedWebhook];
    expect(headers['x-message-id']).toBe(expected);
    expect(headers['x-evil']).toBeUndefined();
    new Webhook(SECRET).verify(raw.toString(), headers as Headers);
  });
});
