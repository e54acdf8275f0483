import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen } from '../support/platforms.js';
import { readMetrics, sumOf } from '../support/prometheus.js';
import { Relay } from '../support/relay.js';
import { ScriptedReceiver, status } from '../support/scripted-receiver.js';

describe('The number of dead deliveries', () => {
  const afterwards = useCleanUps();

  async function start(options: Parameters<typeof Relay.start>[0]) {
    const relay = await Relay.start({ admin: { token: 'secret' }, ...options });
    afterwards(() => relay.stop());
    const host = await listen(relay.app);
    const dead = async (destination: string) =>
      sumOf(await readMetrics(host, 'secret'), 'analytics_relay_delivery_dead_total', { destination });
    return { relay, host, dead };
  }

  async function startReceiver(code: number): Promise<string> {
    const receiver = await ScriptedReceiver.start(status(code));
    afterwards(() => receiver.stop());
    return receiver.url;
  }

  it('includes those that die without an attempt', async () => {
    const [failing, refusing] = [await startReceiver(503), await startReceiver(410)];
    const transform = () => {
      throw new Error('a bug');
    };
    const { relay, host, dead } = await start({
      destinations: [
        { name: 'Refusing', urls: [refusing] },
        { name: 'Throwing', urls: [refusing], transform },
        { name: 'Down', urls: [failing], concurrency: 10 },
      ],
      registry: 'store',
      delivery: { retryWindow: 1_000, initialRetryDelay: 50, maxRetryDelay: 100 },
    });
    await relay.service.destinations.create({ name: 'Removed', urls: [refusing] });
    await relay.service.destinations.pause('Removed');
    const messageIds = Array.from({ length: 20 }, (_, index) => `m${index}`);
    await relay.track(...messageIds);
    await relay.service.destinations.remove('Removed');
    await relay.settled('dead', 80);
    for (const name of ['Refusing', 'Throwing', 'Down', 'Removed'])
      expect([name, await dead(name)]).toEqual([name, 20]);
    const attempts = async (destination: string) =>
      sumOf(await readMetrics(host, 'secret'), 'analytics_relay_delivery_attempts_total', {
        destination,
        outcome: 'dead',
      });
    expect(await attempts('Refusing')).toBe(20);
    expect(await attempts('Throwing')).toBe(0);
    expect(await attempts('Down')).toBe(20); // no retry window ends without one
  });

  it('is kept apart for the first destinations only', async () => {
    const url = await startReceiver(410);
    const names = ['a', 'b', 'c', 'd'];
    const { relay, dead } = await start({
      destinations: names.map((name) => ({ name, urls: [url] })),
      maxMetricDestinations: 2,
    });
    await relay.track('m1');
    await relay.settled('dead', 4);
    expect([await dead('a'), await dead('b'), await dead('_other')]).toEqual([1, 1, 2]);
  });
});
