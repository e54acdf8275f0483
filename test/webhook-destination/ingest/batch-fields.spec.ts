import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { onExpress } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';

const track = { type: 'track', userId: 'u1', event: 'Order Completed' };

describe.each(onExpress)('An envelope on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const start = () => startRelayApp(afterwards, createAdapter());

  it('shares its context and integrations with its messages, whose own take precedence', async () => {
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

  it.each([
    ['no message has one', {}],
    ['one comes first', { b: 1 }],
    ['one comes in between', { '"b,"': { deep: [1] } }],
    ['one comes last', { '€': null }],
    ['a message has some', { '€': 1, b: 2, more: 3 }],
    ['a message has all', { '€': 1, b: 2, '"b,"': 3 }],
  ])('shares the members of its context where %s of its own', async (_case, own) => {
    const { host, receiver } = await start();
    const context = { b: 'ü,', '"b,"': [{ '}': ',' }], '€': 'x' };
    await post(`${host}/v1/b`, { context, batch: [{ ...track, context: own }] });
    const [webhook] = await receiver.received(1);
    expect(webhook!.body.context).toEqual({ ...context, ...own });
  });

  it.each(['{}', '{"__proto__":{"polluted":true}}', 'null'])('shares no __proto__ with a context %s', async (own) => {
    const { host, receiver } = await start();
    const shared = '{"__proto__":{"polluted":true},"ip":"198.51.100.7"}';
    const message = JSON.stringify(track).replace('}', `,"context":${own},"integrations":${own}}`);
    await post(`${host}/v1/b`, `{"context":${shared},"integrations":${shared},"batch":[${message}]}`);
    const [webhook] = await receiver.received(1);
    expect(webhook!.body.context).toEqual({ ip: '198.51.100.7' });
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
      message: 'batch must not contain more than 2500 messages',
    });
  });

  it.each([1_700, 6_690])('shares %i bytes with each of 2,500 messages', async (length) => {
    const { host } = await startRelayApp(afterwards, createAdapter(), { destination: { types: ['identify'] } });
    const batch = Array.from({ length: 2_500 }, () => ({ type: 'track', userId: 'u', event: 'e' }));
    const answer = await post(`${host}/v1/b`, { context: { text: 'x'.repeat(length) }, batch });
    expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
  });

  it('is refused where its messages would get more than 16 MiB of its context', async () => {
    const { host } = await start();
    const context = { text: 'x'.repeat(32_000) };
    const answer = await post(`${host}/v1/b`, { context, batch: Array.from({ length: 525 }, () => track) });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        code: 'context_too_large',
        field: 'context',
        message: 'context, multiplied by the number of messages, must not exceed 16777216 bytes',
      },
    ]);
  });

  it('takes no longer for the many integrations that it shares', async () => {
    const { host, receiver } = await start();
    const batch = Array.from({ length: 2_500 }, () => ({ ...track, integrations: { Other: true } }));
    const duration = async (members: number) => {
      const names = Array.from({ length: members }, (_, index) => [index.toString(36), 0]);
      const integrations = { Webhooks: false, ...(Object.fromEntries(names) as object) };
      const durations: number[] = [];
      for (let time = 0; time < 3; time++) {
        const start = performance.now();
        expect((await post(`${host}/v1/batch`, { integrations, batch })).status).toBe(200);
        durations.push(performance.now() - start);
      }
      return Math.min(...durations);
    };
    // Making them for each message took 100 times as long.
    expect(await duration(4_000)).toBeLessThan(10 * (await duration(1)));
    expect(receiver.webhooks).toEqual([]);
  });

  it('has those messages refused that are too large with what it shares', async () => {
    const { host, receiver } = await start();
    const integrations = { All: true };
    const context = (length: number) => ({ text: 'ü'.repeat(1_000), more: 'x'.repeat(length) });
    const size = Buffer.byteLength(JSON.stringify({ ...track, context: context(0), integrations }));
    const batch = [track, { ...track, event: 'Order Completed!' }, { ...track, context: { more: '' } }];
    const answer = await post(`${host}/v1/b`, { context: context(32_768 - size), integrations, batch });
    expect(await answer.json()).toEqual({
      success: true,
      rejected: [expect.objectContaining({ index: 1, field: 'message', code: 'message_too_large' })],
    });
    await receiver.received(2);
  });

  it.each(['context', 'integrations'])('is refused where no message can hold its %s', async (field) => {
    const { host } = await start();
    const nested = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
    for (const [code, value] of [
      ['not_object', '[]'],
      ['too_large', `{"text":"${'x'.repeat(32_768)}"}`],
      ['too_deep', nested],
    ]) {
      const answer = await post(`${host}/v1/b`, `{"${field}":${value},"batch":[${JSON.stringify(track)}]}`);
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { code: `${field}_${code}`, field, message: expect.stringContaining(`${field} must`) },
      ]);
    }
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
    expect(await answer.json()).toMatchObject({ code: 'message_too_deep', field: 'message' });
  });
});
