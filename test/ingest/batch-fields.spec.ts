import { describe, expect, it } from '@jest/globals';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { post } from '../support/post.js';
import { startRelayApp } from '../support/relay.app.js';

const track = { type: 'track', userId: 'u1', event: 'Order Completed' };

describe.each(platforms)('An envelope on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const start = () => startRelayApp(afterwards, createAdapter());

  it('lends its context and integrations to its messages, whose own are stronger', async () => {
    const { host, receiver } = await start();
    await post(`${host}/v1/b`, {
      context: { ip: '198.51.100.7', locale: 'de' },
      integrations: { Webhooks: false },
      batch: [
        { ...track, event: 'Withheld' },
        { ...track, context: { locale: 'fr' }, integrations: { Webhooks: true } },
      ],
    });
    const [webhook] = await receiver.received(1);
    expect(webhook!.body).toMatchObject({
      event: 'Order Completed',
      context: { ip: '198.51.100.7', locale: 'fr' },
    });
  });

  it('lends no __proto__', async () => {
    const { host, receiver } = await start();
    const context = '{"ip":"198.51.100.7","__proto__":{"polluted":true}}';
    await post(`${host}/v1/b`, `{"context":${context},"batch":[${JSON.stringify({ ...track, context: {} })}]}`);
    const [webhook] = await receiver.received(1);
    expect(webhook!.raw.toString()).not.toContain('polluted');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('holds 2,500 messages and no more', async () => {
    const { host } = await start();
    const batch = (length: number) => ({ batch: Array.from({ length }, () => track) });
    expect((await post(`${host}/v1/batch`, batch(2_500))).status).toBe(200);
    const answer = await post(`${host}/v1/batch`, batch(2_501));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      code: 'batch_too_long',
      field: 'batch',
      message: 'batch must not hold more than 2500 messages',
    });
  });

  it('is refused where its context would blow its messages up', async () => {
    const { host } = await start();
    const batch = Array.from({ length: 2_500 }, () => ({ type: 'track', userId: 'u', event: 'e' }));
    const answer = await post(`${host}/v1/b`, { context: { text: 'x'.repeat(30_000) }, batch });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({ code: 'context_too_large', field: 'context' }),
    ]);
  });

  it('may have a message of 100 levels, and none deeper', async () => {
    const { host, receiver } = await start();
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    // The message itself and its properties are two of the levels.
    const message = (levels: number) => `{"userId":"u1","event":"Deep","properties":${nested(levels - 1)}}`;
    expect((await post(`${host}/v1/track`, message(100))).status).toBe(200);
    await receiver.received(1);
    for (const levels of [101, 50_000]) {
      const answer = await post(`${host}/v1/track`, message(levels).slice(0, 480_000));
      expect(answer.status).toBe(400);
    }
    const answer = await post(`${host}/v1/track`, message(101));
    expect(await answer.json()).toMatchObject({ code: 'message_too_deep' });
  });
});
