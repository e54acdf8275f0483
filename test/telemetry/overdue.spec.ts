import { ExpressAdapter } from '@nestjs/platform-express';
import { memoryQueue, type WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { post } from '../support/post.js';
import { readMetrics } from '../support/prometheus.js';
import { Receiver } from '../support/receiver.js';
import { startRelayApp } from '../support/relay.app.js';
import { waitFor } from '../support/wait-for.js';

const AGE = 'analytics_relay_delivery_oldest_age_seconds';
const OVERDUE = 'analytics_relay_delivery_oldest_overdue_seconds';

describe('How long deliveries are overdue', () => {
  const afterwards = useCleanUps();

  async function start(options: Partial<WebhookDestinationModuleOptions>) {
    const failing = await Receiver.start();
    afterwards(() => failing.stop());
    failing.statuses = [503];
    const { host, receiver, relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
      options: {
        admin: { token: 'secret' },
        queue: memoryQueue(),
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000 },
        destinations: [],
        registry: 'store',
        ...options,
      },
    });
    const track = (messageId: string) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId });
    /** The values of a metric by destination. */
    const read = async (metric: string): Promise<Record<string, number>> => {
      const found = (await readMetrics(host, 'secret')).find(({ name }) => name === metric)?.metrics ?? [];
      return Object.fromEntries(found.flatMap(({ labels, value }) => (labels ? [[labels.destination!, +value]] : [])));
    };
    const send = (...messageIds: string[]) => post(`${host}/v1/batch`, { batch: messageIds.map(track) });
    const waiting = async (destination: string) =>
      waitFor(async () => (await relay.deliveries({ destination, state: 'waiting' })).length > 0);
    return { failing, receiver, relay, read, send, waiting };
  }

  it('does not include the wait for their next attempt', async () => {
    const { relay, failing, read, send, waiting } = await start({});
    await relay.destinations.create({ name: 'Failing', urls: [failing.url] });
    await send('m1');
    await waiting('Failing');
    await waitFor(async () => (await read(AGE)).Failing! > 0.1);
    expect(await read(OVERDUE)).toEqual({ Failing: 0 });
  });

  it('grows while deliveries are due, and has no value for a destination that is paused or disabled', async () => {
    const { relay, receiver, failing, read, send, waiting } = await start({});
    const rateLimit = { requests: 1, per: 600_000 };
    await relay.destinations.create({ name: 'Slow', urls: [receiver.url], concurrency: 1, rateLimit });
    await relay.destinations.create({ name: 'Disabled', urls: [failing.url] });
    await relay.destinations.create({ name: 'Paused', urls: [failing.url] });
    await relay.destinations.pause('Paused');
    // The first ones fill the memory of the slow destination; the rest stays in the queue.
    for (let start = 0; start < 60; start += 20) {
      await send(...Array.from({ length: 20 }, (_, index) => `m${start + index}`));
    }
    await waiting('Disabled');
    await waitFor(async () => (await read(OVERDUE)).Slow! > 0.1);
    expect(Object.keys(await read(OVERDUE)).sort()).toEqual(['Disabled', 'Slow']);
    await relay.destinations.update('Disabled', { enabled: false });
    expect(Object.keys(await read(OVERDUE))).toEqual(['Slow']);
    expect(Object.keys(await read(AGE)).sort()).toEqual(['Disabled', 'Paused', 'Slow']);
    // A resumed destination counts again: what waited is due.
    await relay.destinations.resume('Paused');
    await waitFor(async () => 'Paused' in (await read(OVERDUE)));
  });

  it('includes what a rate limit holds, also where all of it would have a place in memory', async () => {
    const { relay, receiver, read, send } = await start({});
    const rateLimit = { requests: 1, per: 600_000 };
    await relay.destinations.create({ name: 'Limited', urls: [receiver.url], rateLimit });
    await send('m1', 'm2', 'm3');
    await receiver.received(1);
    await waitFor(async () => (await read(OVERDUE)).Limited! > 0.1);
    expect((await read(AGE)).Limited).toBeGreaterThan(0.1);
  });

  it('has no value with an engine that does not say when deliveries fall due', async () => {
    const queue = memoryQueue()();
    const oldest = queue.oldest.bind(queue);
    queue.oldest = async () => (await oldest()).map(({ destination, acceptedAt }) => ({ destination, acceptedAt }));
    const { relay, failing, read, send, waiting } = await start({ queue: () => queue });
    await relay.destinations.create({ name: 'Failing', urls: [failing.url] });
    await send('m1');
    await waiting('Failing');
    await waitFor(async () => (await read(AGE)).Failing! > 0);
    expect(await read(OVERDUE)).toEqual({});
  });
});
