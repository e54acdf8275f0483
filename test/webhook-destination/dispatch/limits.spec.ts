import type { ServerResponse } from 'node:http';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { hang, type Script, ScriptedReceiver, status } from '../../support/scripted-receiver.js';

describe('The limits of the specification', () => {
  const cleanUp = useCleanUps();

  async function receive(script: Script): Promise<ScriptedReceiver> {
    const receiver = await ScriptedReceiver.start(script);
    cleanUp(() => receiver.stop());
    return receiver;
  }

  it('five URLs of one destination each get the message, in one request', async () => {
    const receiver = await receive(status(400));
    const urls = ['a', 'b', 'c', 'd', 'e'].map((path) => `${receiver.url}/${path}`);
    const relay = await Relay.start({ destinations: [{ urls }] });
    cleanUp(() => relay.stop());
    await relay.track('m1');
    await relay.settled('dead');
    expect(receiver.webhooks.map(({ path }) => path).sort()).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((p) => `/hook/${p}`),
    );
    expect(new Set(receiver.webhooks.map(({ raw }) => raw.toString())).size).toBe(1);
  });

  it('a receiver has five seconds, unless the options say otherwise', async () => {
    const late = await receive((response) => void setTimeout(() => response.end(), 4_500));
    const hung = await receive(hang);
    const relay = await Relay.start({
      destinations: [
        { name: 'Late', urls: [late.url] },
        { name: 'Hung', urls: [hung.url] },
      ],
    });
    cleanUp(() => relay.stop());
    await relay.track('m1');
    expect(await relay.settled('delivered')).toMatchObject([{ destination: 'Late', attempt: 1 }]);
    const [retry] = await relay.settled('retry');
    expect(retry).toMatchObject({
      destination: 'Hung',
      results: [{ error: expect.stringMatching(/^timeout.* 5000 ms$/) }],
    });
    expect(retry!.results[0]!.duration).toBeGreaterThanOrEqual(4_990);
    expect(retry!.results[0]!.duration).toBeLessThan(5_500);
    // The second attempt comes 10 s after the first, give or take 20 %.
    const [waiting] = await relay.undelivered();
    const [{ startedAt } = { startedAt: 0 }] = waiting!.attempts;
    const wait = waiting!.nextAttemptAt! - startedAt - retry!.results[0]!.duration;
    expect(wait).toBeGreaterThanOrEqual(7_990);
    expect(wait).toBeLessThan(12_500);
  });

  it('a slow URL beside a fast one gets no more requests than can be under way', async () => {
    const slow = await receive(hang);
    const fast = await receive(status(200));
    const relay = await Relay.start({
      destinations: [{ urls: [slow.url, fast.url] }],
      delivery: { concurrency: 2, timeout: 400 },
    });
    cleanUp(() => relay.stop());
    await relay.track(...Array.from({ length: 60 }, (_, index) => `m${index}`));
    const delivered = await relay.settled('delivered', 60);
    const skipped = delivered.filter(({ results }) => results.some(({ error }) => error?.startsWith('too many')));
    // Two on connections and six that wait; the other deliveries went without.
    expect(skipped.length).toBeGreaterThanOrEqual(60 - 8 * 3);
    expect(slow.mostActive).toBe(2);
    expect(fast.webhooks).toHaveLength(60);
  });

  it('the concurrency of a destination takes the place of that of delivery, in its requests and connections', async () => {
    const slow = (response: ServerResponse) => void setTimeout(() => response.end(), 100);
    const few = await receive(slow);
    const many = await receive(slow);
    const relay = await Relay.start({
      destinations: [
        { name: 'Few', urls: [few.url], concurrency: 2 },
        { name: 'Many', urls: [many.url], concurrency: 12 },
      ],
      delivery: { concurrency: 5 },
    });
    cleanUp(() => relay.stop());
    await relay.track(...Array.from({ length: 24 }, (_, index) => `m${index}`));
    await relay.settled('delivered', 48);
    expect([few.mostActive, few.connections]).toEqual([2, 2]);
    expect([many.mostActive, many.connections]).toEqual([12, 12]);
  });

  it('a slow URL of a destination gets four times its concurrency', async () => {
    const slow = await receive(hang);
    const fast = await receive(status(200));
    const relay = await Relay.start({
      destinations: [{ urls: [slow.url, fast.url], concurrency: 1 }],
      delivery: { timeout: 60_000 },
    });
    cleanUp(() => relay.stop());
    await relay.track(...Array.from({ length: 10 }, (_, index) => `m${index}`));
    const delivered = await relay.settled('delivered', 10);
    const skipped = delivered.filter(({ results }) => results.some(({ error }) => error?.startsWith('too many')));
    expect(skipped).toHaveLength(6);
  });
});
