import { createHmac } from 'node:crypto';

import { beforeEach, describe, expect, it } from '@jest/globals';
import { type DestinationOptions, verifySignature } from 'nestjs-analytics-relay';
import { Webhook } from 'standardwebhooks';

import { useCleanUps } from '../../support/clean-ups.js';
import { type ReceivedWebhook, Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';

type Headers = Record<string, string>;

describe('A webhook', () => {
  const cleanUp = useCleanUps();
  let receiver: Receiver;
  beforeEach(async () => {
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
    ['plain text', { format: 'raw' as const }],
  ])('is accepted by the Standard Webhooks library under %s', async (secret, format) => {
    const [{ raw, headers }] = (await send({ sharedSecret: secret, standardWebhooks: true })) as [ReceivedWebhook];
    expect(new Webhook(secret, format).verify(raw.toString(), headers as Headers)).toMatchObject({ event: 'Ordered' });
    expect(headers['webhook-id']).toBe('m1');
    expect(verifySignature(raw, headers['x-signature'] as string, secret)).toBe(true);
    expect(() => new Webhook('whsec_b3RoZXI=').verify(raw.toString(), headers as Headers)).toThrow();
  });

  it('is accepted by the Standard Webhooks library under both secrets while they are rotated', async () => {
    const secrets: [string, string] = ['whsec_bmV3', 'whsec_b2xk'];
    const [{ raw, headers }] = (await send({ sharedSecret: secrets, standardWebhooks: true })) as [ReceivedWebhook];
    for (const secret of secrets) new Webhook(secret).verify(raw.toString(), headers as Headers);
  });

  it('has the same id and a new Standard Webhooks timestamp at each attempt', async () => {
    receiver.statuses = [503, 200];
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url], sharedSecret: 'whsec_bmV3', standardWebhooks: true }],
      delivery: { initialRetryDelay: 1_250, maxRetryDelay: 1_250 },
    });
    cleanUp(() => relay.stop());
    await relay.service.accept('wk_shop', [message]);
    const [first, second] = (await receiver.received(2)) as [ReceivedWebhook, ReceivedWebhook];
    expect(second.raw).toEqual(first.raw);
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(Number(second.headers['webhook-timestamp'])).toBeGreaterThan(Number(first.headers['webhook-timestamp']));
    new Webhook('whsec_bmV3').verify(second.raw.toString(), second.headers as Headers);
  });

  it.each([
    ['m 1\r\nX-Evil: 1', 'm%201%0D%0AX-Evil%3A%201'],
    ['Zoë-🙂', 'Zo%C3%AB-%F0%9F%99%82'],
    ['lone \ud800', 'lone%20%EF%BF%BD'],
    ['a:b/c?d', 'a:b/c?d'],
  ])('carries the messageId %j so that a header can hold it', async (messageId, expected) => {
    const options = { sharedSecret: 'whsec_bmV3', standardWebhooks: true };
    const [{ raw, headers }] = (await send(options, { ...message, messageId })) as [ReceivedWebhook];
    expect(headers['x-message-id']).toBe(expected);
    expect(headers['x-evil']).toBeUndefined();
    new Webhook('whsec_bmV3').verify(raw.toString(), headers as Headers);
  });
});
