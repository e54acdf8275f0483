import { FastifyAdapter } from '@nestjs/platform-fastify';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { post } from '../../support/post.js';
import { RandomJson } from '../../support/random-json.js';
import { startRelayApp } from '../../support/relay.app.js';

function parse(text: string): { properties: unknown } | undefined {
  try {
    return JSON.parse(text) as { properties: unknown };
  } catch {
    return undefined;
  }
}

describe('The body of a webhook', () => {
  const afterwards = useCleanUps();

  it('is what JSON.stringify writes, however the message was written', async () => {
    const { host, receiver } = await startRelayApp(afterwards, new FastifyAdapter(), {
      options: { delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency: 16 } },
    });
    const random = new RandomJson(7);
    const expected = new Map<string, string>();
    let batch: string[] = [];
    for (let index = 0; index < 3_000; index++) {
      const messageId = `m${index}`;
      const properties = JSON.stringify(random.object());
      // What was put in may have parted a pair of surrogates, which UTF-8 cannot hold.
      const text = Buffer.from(index % 3 === 0 ? properties : random.spoil(properties)).toString();
      const parsed = parse(`{"properties":${text}}`);
      // What was put in may have closed the object that it was put into.
      if (parsed === undefined || Object.keys(parsed).length !== 1) continue;
      if (typeof parsed.properties !== 'object' || parsed.properties === null) continue;
      const timestamp = '2026-01-02T03:04:05.678Z';
      const start = `{"type":"track","messageId":"${messageId}","userId":"ü1","event":"Ordered",`;
      batch.push(`${start}"properties":${text},"timestamp":"${timestamp}"}`);
      const body = { version: 1, type: 'track', userId: 'ü1', event: 'Ordered', ...parsed, timestamp };
      expected.set(messageId, JSON.stringify(body));
      if (batch.length < 50) continue;
      expect(await (await post(`${host}/v1/batch`, `{"batch":[${batch.join()}]}`)).json()).toEqual({ success: true });
      batch = [];
    }
    const rest = await post(`${host}/v1/batch`, ` { "sentAt" : null , "batch" :[ ${batch.join(' , ')} ] }`);
    expect(await rest.json()).toEqual({ success: true });
    const webhooks = await receiver.received(expected.size);
    expect(expected.size).toBeGreaterThan(1_500);
    for (const { headers, raw } of webhooks) {
      expect(raw.toString()).toBe(expected.get(headers['x-message-id'] as string));
    }
  });

  it.each([
    ['two batches', '{"batch":[{"userId":"a"}],"batch":[MESSAGE]}'],
    ['a second batch by an escaped name', '{"batch":[{"userId":"a"}],"b\\u0061tch":[MESSAGE]}'],
    ['a field twice', '{"batch":[{"properties":{"hidden":1},REST]}'],
    ['a field twice, once by an escaped name', '{"batch":[{"propert\\u0069es":{"hidden":1},REST]}'],
  ])('is that of the message that was checked, when the request has %s', async (_, layout) => {
    const { host, receiver } = await startRelayApp(afterwards, new FastifyAdapter());
    const message = { type: 'track', userId: 'u1', event: 'Ordered', properties: { seen: true } };
    const text = JSON.stringify(message);
    const answer = await post(`${host}/v1/batch`, layout.replace('MESSAGE', text).replace('REST', text.slice(1)));
    expect(await answer.json()).toEqual({ success: true });
    const [webhook] = await receiver.received(1);
    expect(webhook!.body).toMatchObject({ userId: 'u1', properties: { seen: true } });
    expect(webhook!.raw.toString()).not.toContain('hidden');
  });
});
