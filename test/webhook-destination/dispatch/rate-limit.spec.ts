import { type DeliveryQueueFactory, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { type Script, ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { describeOnEach, postgresStore, redisStore } from '../../support/services.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

/** Attempts are recorded in whole milliseconds. */
const ROUNDING = 2;

const ids = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);

const cleanUp = useCleanUps();

async function receive(script: Script): Promise<ScriptedReceiver> {
  const receiver = await ScriptedReceiver.start(script);
  cleanUp(() => receiver.stop());
  return receiver;
}

async function start(options: Parameters<typeof Relay.start>[0]): Promise<Relay> {
  const relay = await Relay.start(options);
  cleanUp(() => relay.stop());
  return relay;
}

/** Returns when the attempts of a destination were made, in order: at a receiver, a busy machine may delay some of them. */
async function attemptTimes({ service }: Relay, destination?: string): Promise<number[]> {
  const all = await service.deliveries({ destination }, { limit: 1_000 });
  return all.flatMap(({ attempts }) => attempts.map(({ startedAt }) => startedAt)).sort((a, b) => a - b);
}

/** Stops an application while deliveries wait, and starts it again: they are as they were, and all are sent. */
async function expectRelease(queue: DeliveryQueueFactory): Promise<void> {
  const receiver = await receive(status(200));
  const destination = { urls: [receiver.url], rateLimit: { requests: 1, per: 3_600_000 } };
  const first = await Relay.start({ destinations: [destination], queue });
  await first.track(...ids(100));
  await first.settled('delivered', 1);
  const begin = Date.now();
  await first.stop();
  expect(Date.now() - begin).toBeLessThan(4_500);
  expect(first.log.matching(/^error/)).toEqual([]);
  expect(receiver.webhooks).toHaveLength(1);

  // A window that had begun is over by now.
  const end = Date.now() + 2_000;
  await waitFor(() => Date.now() > end);
  const second = await start({ destinations: [{ urls: [receiver.url] }], queue, delivery: { retryWindow: 2_000 } });
  await second.settled('delivered', 99);
  expect(second.events.filter(({ type, attempt }) => type !== 'delivered' || attempt !== 1)).toEqual([]);
  expect(receiver.webhooks).toHaveLength(100);
}

describe('The rate limit of a destination', () => {
  it('bounds its requests in any stretch of time, and no other destination', async () => {
    const limited = await receive(status(200));
    const free = await receive(status(200));
    const relay = await start({
      destinations: [
        { name: 'Limited', urls: [limited.url], rateLimit: { requests: 5, per: 400 } },
        { name: 'Free', urls: [free.url] },
      ],
    });
    await relay.track(...ids(23));
    await waitFor(() => free.webhooks.length === 23);
    expect(limited.webhooks.length).toBeLessThanOrEqual(10);
    const delivered = await relay.settled('delivered', 46);
    expect(limited.webhooks).toHaveLength(23);
    const times = await attemptTimes(relay, 'Limited');
    expect(times).toHaveLength(23);
    for (let index = 5; index < 23; index++) {
      expect(times[index]! - times[index - 5]!).toBeGreaterThanOrEqual(400 - ROUNDING);
    }
    expect(delivered.every(({ attempt }) => attempt === 1)).toBe(true);
  });

  it('leaves what it holds for long in the queue, where it is seen to wait, instead of leasing it', async () => {
    const receiver = await receive(status(200));
    const relay = await start({
      destinations: [{ urls: [receiver.url], concurrency: 4, rateLimit: { requests: 2, per: 3_600_000 } }],
    });
    await relay.track(...ids(40));
    await relay.settled('delivered', 2);
    await waitFor(async () => (await relay.undelivered()).every(({ state }) => state !== 'delivering'));
    expect(await relay.undelivered()).toHaveLength(38);
    const [counted] = await relay.service.stats().then((rows) => rows.filter(({ state }) => state === 'queued'));
    expect(counted!.count).toBeGreaterThan(30); // no more were leased than could be sent
  });

  it('counts the request to each URL', async () => {
    const receiver = await receive(status(200));
    const relay = await start({
      destinations: [
        { urls: [receiver.url, `${receiver.url}/2`, `${receiver.url}/3`], rateLimit: { requests: 4, per: 400 } },
      ],
    });
    await relay.track(...ids(3));
    await waitFor(() => receiver.webhooks.length === 9);
    await relay.settled('delivered', 3);
    const [first, second, third] = (await attemptTimes(relay)) as [number, number, number];
    expect(second - first).toBeGreaterThanOrEqual(400 - ROUNDING);
    expect(third - second).toBeGreaterThanOrEqual(400 - ROUNDING);
  });

  it('holds deliveries without an attempt, and their windows begin when they are sent', async () => {
    const receiver = await receive(status(200));
    const relay = await start({
      destinations: [{ urls: [receiver.url], concurrency: 2, rateLimit: { requests: 1, per: 600 } }],
      delivery: { retryWindow: 500 },
    });
    await relay.track(...ids(4));
    await relay.settled('delivered', 1);
    const held = await relay.undelivered();
    expect(held).toHaveLength(3);
    expect(held.filter(({ attempts }) => attempts.length > 0)).toEqual([]);
    expect(held.filter(({ firstAttemptAt }) => firstAttemptAt !== undefined)).toEqual([]);
    // The last of them waits for three times its window.
    await relay.settled('delivered', 4);
    expect(relay.events.map(({ type, attempt }) => [type, attempt])).toEqual(Array(4).fill(['delivered', 1]));
  });

  it('gives what waits back when the circuit opens', async () => {
    const receiver = await receive(status(503));
    const relay = await start({
      destinations: [{ urls: [receiver.url], rateLimit: { requests: 10, per: 3_600_000 } }],
      delivery: { initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
    });
    await relay.track(...ids(30));
    await relay.settled('retry', 10);
    await waitFor(async () => (await relay.undelivered()).every(({ state }) => state !== 'delivering'));
    const waiting = await relay.undelivered();
    expect(waiting.filter(({ attempts }) => attempts.length === 0)).toHaveLength(20);
    expect(receiver.webhooks).toHaveLength(10);
    expect(relay.events).toHaveLength(10);
  });

  it('limits probes as well, and goes on once the circuit has closed', async () => {
    let isUp = false;
    const receiver = await receive((response) => void response.writeHead(isUp ? 200 : 503).end());
    const relay = await start({
      destinations: [{ urls: [receiver.url], rateLimit: { requests: 10, per: 700 } }],
      delivery: { initialRetryDelay: 100, maxRetryDelay: 200 },
    });
    await relay.track(...ids(30));
    await waitFor(() => receiver.webhooks.length === 10);
    isUp = true;
    await relay.settled('delivered', 30);
    const times = await attemptTimes(relay);
    for (let index = 10; index < times.length; index++) {
      expect(times[index]! - times[index - 10]!).toBeGreaterThanOrEqual(700 - ROUNDING);
    }
  });

  it('does not hold up the shutdown, which gives what waits back as it was', async () => {
    const folder = await temporaryFolder(cleanUp);
    await expectRelease(sqliteQueue({ path: folder.path('relay.db') }));
  });
});

await describeOnEach([redisStore, postgresStore], ({ name, create }) => {
  it(`The rate limit of a destination does not hold up the shutdown with a queue on ${name}`, async () => {
    const { options, remove } = create();
    cleanUp(remove);
    await expectRelease(sharedQueue(options));
  });
});
