import { cpSync, utimesSync } from 'node:fs';

import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { type Lease, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { SteadyClock } from '../../../lib/webhook-destination/queue/steady-clock.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { setClock } from '../../support/clock.js';
import { newDelivery } from '../../support/new-delivery.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

const HOUR = 3_600_000;

const track = (messageId: string) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId });
const names = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);

describe('When the clock is set back', () => {
  const afterwards = useCleanUps();
  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function start(engine: string, initialRetryDelay: number) {
    const folder = await temporaryFolder(afterwards);
    const queue = engine === 'memory' ? memoryQueue() : sqliteQueue({ path: folder.path('relay.db') });
    const delivery = { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay };
    return startRelayApp(afterwards, new ExpressAdapter(), { options: { queue, delivery } });
  }

  describe.each(['SQLite', 'memory'])('%s', (engine) => {
    it('attempts what waits when it was to be, and keeps its window', async () => {
      const { host, receiver, relay } = await start(engine, 1_000);
      receiver.statuses = [503, 503, 200];
      await post(`${host}/v1/track`, track('m'));
      await waitFor(async () => (await relay.deliveries({ state: 'waiting' })).length === 1);
      const [planned] = await relay.deliveries();
      setClock(-HOUR);
      await receiver.received(2);
      const due = planned!.nextAttemptAt! - HOUR;
      expect(receiver.webhooks[1]!.at - due).toBeGreaterThan(-10);
      expect(receiver.webhooks[1]!.at - due).toBeLessThan(10_000);
      await receiver.taken(1);
      await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 1);
      const [delivery] = await relay.deliveries();
      expect(delivery!.firstAttemptAt).toBe(planned!.firstAttemptAt);
      const startedAt = delivery!.attempts.map((attempt) => attempt.startedAt);
      expect([...startedAt].sort((a, b) => a - b)).toEqual(startedAt);
      expect(startedAt[2]! - startedAt[0]!).toBeLessThan(HOUR / 2);
    });

    it('tries a destination again that is down', async () => {
      const { host, receiver } = await start(engine, 500);
      receiver.statuses = [503];
      await post(`${host}/v1/batch`, { batch: names(30).map(track) });
      await receiver.received(10); // the circuit opens
      setClock(-HOUR);
      receiver.statuses = [200];
      expect((await receiver.taken(30)).sort()).toEqual(names(30).sort());
    });
  });

  it('before a start, waits no longer than was left of the wait, and no window begins in the future', async () => {
    const folder = await temporaryFolder(afterwards);
    const path = folder.path('relay.db');
    const open = async () => {
      const queue = sqliteQueue({ path })();
      await queue.open();
      const leases: Lease[] = [];
      const consumer = queue.consume('Webhooks', 8).subscribe((lease) => leases.push(lease));
      const close = async () => {
        consumer.unsubscribe();
        await queue.close();
      };
      afterwards(close);
      return { queue, leases, close };
    };
    const before = await open();
    await before.queue.add(names(3).map(newDelivery));
    await waitFor(() => before.leases.length === 3);
    const now = Date.now();
    const attempt = { startedAt: now, results: [] };
    const [soon, later, leased] = before.leases as [Lease, Lease, Lease];
    await soon.settle({ state: 'waiting', attempt, nextAttemptAt: now + 500, failedUrls: [] });
    await later.settle({ state: 'waiting', attempt, nextAttemptAt: now + HOUR, failedUrls: [] });
    await before.close();
    // As though all that had happened an hour from now.
    vi.spyOn(Date, 'now').mockImplementation(() => now - HOUR);
    utimesSync(path, now / 1_000, now / 1_000);
    const after = await open();
    await waitFor(() => after.leases.length === 2);
    const ids = after.leases.map(({ delivery }) => delivery.messageId).sort();
    expect(ids).toEqual([soon.delivery.messageId, leased.delivery.messageId].sort());
    const { firstAttemptAt } = after.leases.find(({ delivery }) => delivery.attempts.length > 0)!.delivery;
    expect(firstAttemptAt).toBeGreaterThan(now - HOUR - 1);
    expect(firstAttemptAt).toBeLessThan(now - HOUR + 60_000);
    const [waiting] = await after.queue.list({ messageId: later.delivery.messageId });
    expect(waiting!.nextAttemptAt! - now).toBeGreaterThan(-1_000);
    expect(waiting!.nextAttemptAt! - now).toBeLessThan(1_000);
  });
});

describe('When the clock was set back, and the process then started again', () => {
  const afterwards = useCleanUps();
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each(['closed', 'killed'])('the SQLite queue that was %s waits no longer than planned', async (end) => {
    const folder = await temporaryFolder(afterwards);
    const open = async (path: string) => {
      const queue = await openQueue(afterwards, sqliteQueue({ path: folder.path(path) }));
      const leases: Lease[] = [];
      queue.consume('Webhooks', 8).subscribe((lease) => leases.push(lease));
      return { queue, leases };
    };
    setClock(HOUR); // the thread has the clock as it is later
    const before = await open('relay.db');
    await before.queue.add([newDelivery('m')]);
    await waitFor(() => before.leases.length === 1);
    vi.restoreAllMocks();
    const nextAttemptAt = before.queue.now() + 500;
    await before.leases[0]!.settle({ state: 'waiting', nextAttemptAt, failedUrls: [] });
    if (end === 'closed') await before.queue.close();
    for (const log of ['', '-wal']) {
      const [from, to] = [folder.path(`relay.db${log}`), folder.path(`next.db${log}`)];
      if (log === '' || end === 'killed') cpSync(from, to, { preserveTimestamps: true });
    }
    const after = await open('next.db');
    await waitFor(() => after.leases.length === 1, undefined, 5_000);
  });

  it.each(['SQLite', 'memory'])('a deletion removes what was accepted before, %s', async (engine) => {
    const folder = await temporaryFolder(afterwards);
    const { host, receiver, relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
      options: {
        queue: engine === 'memory' ? memoryQueue() : sqliteQueue({ path: folder.path('relay.db') }),
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: HOUR, maxRetryDelay: HOUR },
      },
    });
    receiver.statuses = [503];
    await post(`${host}/v1/track`, track('before'));
    await waitFor(async () => (await relay.deliveries({ state: 'waiting' })).length === 1);
    setClock(-HOUR);
    await post(`${host}/v1/track`, track('after'));
    await waitFor(async () => (await relay.deliveries({ state: 'waiting' })).length === 2);
    receiver.statuses = [200];
    const now = Date.now();
    expect(await relay.requestDeletion({ userId: 'u1' })).toMatchObject({ notifications: 1, purged: 2, refused: 0 });
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 1);
    const { timestamp } = receiver.webhooks.at(-1)!.body;
    expect(Date.parse(timestamp as string)).toBeGreaterThan(now - 1);
    expect(Date.parse(timestamp as string)).toBeLessThan(now + 60_000);
  });
});

describe('The time that deliveries are planned by', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('follows the clock, and runs on by itself where that is set back', () => {
    Logger.overrideLogger(false);
    let [wall, elapsed] = [1_000_000, 5];
    vi.spyOn(Date, 'now').mockImplementation(() => wall);
    vi.spyOn(performance, 'now').mockImplementation(() => elapsed);
    const clock = new SteadyClock(() => Date.now());
    const pass = (time: number, step = 0) => {
      elapsed += time;
      wall += time + step;
      return [clock.now(), clock.now() - wall];
    };
    expect(pass(0)).toEqual([1_000_000, 0]);
    expect(pass(10)).toEqual([1_000_010, 0]);
    expect(clock.jumps).toEqual([]);
    expect(pass(10, HOUR)).toEqual([1_000_020 + HOUR, 0]); // set forward
    expect(clock.jumps).toEqual([{ from: 1_000_020, to: 1_000_020 + HOUR }]);
    expect(pass(10, -HOUR)).toEqual([1_000_030 + HOUR, HOUR]); // and back
    expect(pass(10)).toEqual([1_000_040 + HOUR, HOUR]);
    expect(pass(10, HOUR + 1)).toEqual([1_000_051 + HOUR, 0]);
    expect(clock.jumps).toHaveLength(1); // the system clock has only caught up
  });
});
