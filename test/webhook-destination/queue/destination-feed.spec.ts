import { Logger } from '@nestjs/common';
import {
  type DeliveryOutcome,
  type DeliveryQueue,
  memoryQueue,
  type NewDelivery,
  sqliteQueue,
} from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Claim, DeliveryStore } from '../../../lib/webhook-destination/queue/store/delivery-store.interface.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery as message } from '../../support/new-delivery.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

const COUNT = 60;
const CONCURRENCY = 2;

const messages = (count: number): NewDelivery[] => Array.from({ length: count }, (_, index) => message(`m${index}`));

const delivered = (): DeliveryOutcome => ({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });

describe('Deliveries of one destination, from an embedded queue', () => {
  const afterwards = useCleanUps();
  let queue: DeliveryQueue;

  beforeEach(async () => {
    const folder = await temporaryFolder(afterwards);
    queue = await openQueue(afterwards, sqliteQueue({ path: folder.path('relay.db') }));
    await queue.add(messages(COUNT));
  });

  it('go on while outcomes are being recorded, until three times the concurrency are not', async () => {
    let handedOut = 0;
    let beforeAnyIsRecorded = 0;
    let recorded = 0;
    const subscription = queue.consume('Webhooks', CONCURRENCY).subscribe((lease) => {
      // What is read from the file at once is handed out in one turn.
      if (handedOut++ === 0) queueMicrotask(() => (beforeAnyIsRecorded = handedOut));
      void lease.settle(delivered()).then((settled) => (recorded += Number(settled)));
    });
    afterwards(() => subscription.unsubscribe());
    await waitFor(() => recorded === COUNT);
    expect(beforeAnyIsRecorded).toBe(3 * CONCURRENCY);
    expect(handedOut).toBe(COUNT);
  });

  it('stay in the file, where the consumer is slow, save for sixteen times the concurrency', async () => {
    const { store } = queue as unknown as { store: DeliveryStore };
    const insert = vi.spyOn(store, 'insert');
    let leases = 0;
    await queue.add([{ ...message('first'), destination: 'Slow' }]); // what comes after it is not read from the file
    const subscription = queue.consume('Slow', CONCURRENCY).subscribe(() => leases++);
    afterwards(() => subscription.unsubscribe());
    await waitFor(() => leases === 1);
    insert.mockClear();
    for (const { messageId } of messages(50)) await queue.add([{ ...message(messageId), destination: 'Slow' }]);
    const inMemory = insert.mock.calls.filter(([[batch]]) => batch!.leased);
    expect(inMemory).toHaveLength(16 * CONCURRENCY - 1);
  });

  it('are read from the file by no more than 16 MiB, in batches and alone', async () => {
    const MIB = 1024 * 1024;
    const body = Buffer.alloc(MIB);
    for (const { messageId } of messages(40)) await queue.add([{ ...message(messageId), destination: 'Large', body }]);
    const { store } = queue as unknown as { store: DeliveryStore };
    const claim = vi.spyOn(store, 'claim');
    // First in batches, then alone, as they were released.
    for (let time = 0; time < 2; time++) {
      claim.mockClear();
      let leases = 0;
      const subscription = queue.consume('Large', 4).subscribe(() => leases++);
      await waitFor(() => leases === 4);
      const { deliveries, more } = (await claim.mock.results[0]!.value) as Claim;
      expect([deliveries.length, more]).toEqual([16, true]);
      subscription.unsubscribe();
      await waitFor(async () => (await queue.list({ destination: 'Large', state: 'delivering' })).length <= 8);
    }
  });

  it('are read by no more than 128 MiB for all destinations, and by 8 of each from then on', async () => {
    const body = Buffer.alloc(1024 * 1024);
    const names = Array.from({ length: 12 }, (_, index) => `Large ${index}`);
    for (const destination of names) {
      for (const { messageId } of messages(20)) await queue.add([{ ...message(messageId), destination, body }]);
    }
    let leases = 0;
    for (const name of names) {
      const before = leases;
      const subscription = queue.consume(name, 8).subscribe(() => leases++);
      afterwards(() => subscription.unsubscribe());
      await waitFor(() => leases === before + 8);
    }
    const taken = await queue.list({ state: 'delivering' }, { limit: 500 });
    expect(taken.length).toBe(8 * 16 + 4 * 8);
  });

  it('are with the consumer no more than the concurrency at once, whatever is being recorded', async () => {
    let attempted = 0;
    let most = 0;
    let recorded = 0;
    const subscription = queue.consume('Webhooks', CONCURRENCY).subscribe((lease) => {
      most = Math.max(most, ++attempted);
      setImmediate(() => {
        attempted--;
        void lease.settle(delivered()).then((settled) => (recorded += Number(settled)));
      });
    });
    afterwards(() => subscription.unsubscribe());
    await waitFor(() => recorded === COUNT);
    expect(most).toBe(CONCURRENCY);
  });
});

describe('An embedded queue whose store fails', () => {
  type Store = Record<'insert' | 'claim' | 'settle', (...given: unknown[]) => Promise<unknown>>;
  let queue: DeliveryQueue;
  let store: Store;
  let handedOut: string[];

  beforeEach(async () => {
    for (const level of ['warn', 'error'] as const) {
      vi.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
    }
    queue = memoryQueue()();
    ({ store } = queue as unknown as { store: Store });
    await queue.open();
    handedOut = [];
  });
  afterEach(async () => {
    await queue.close();
    vi.restoreAllMocks();
  });

  const consume = () =>
    queue.consume('Webhooks', CONCURRENCY).subscribe((lease) => {
      handedOut.push(lease.delivery.messageId);
      void lease.settle(delivered());
    });

  it('does not send a second time at once what may be recorded', async () => {
    const settle = store.settle.bind(store);
    vi.spyOn(store, 'settle').mockImplementationOnce(async (...given) => {
      await settle(...given);
      throw new Error('the answer was lost');
    });
    let active = 0;
    let most = 0;
    queue.consume('Webhooks', CONCURRENCY).subscribe((lease) => {
      most = Math.max(most, ++active);
      handedOut.push(lease.delivery.messageId);
      const attempt = { startedAt: Date.now(), results: [] };
      active -= Number(handedOut.length === 1);
      if (handedOut.length > 1) return;
      void lease.settle({ state: 'waiting', attempt, nextAttemptAt: Date.now(), failedUrls: [] });
    });
    await queue.add([message('m0')]);
    await waitFor(() => Boolean(vi.mocked(store.settle).mock.calls.length));
    await queue.expedite('Webhooks'); // wakes the consumer, which finds it due
    await waitFor(() => handedOut.length === 2);
    await waitFor(() => vi.mocked(store.settle).mock.calls.length === 2);
    await queue.expedite('Webhooks');
    expect([handedOut, most]).toEqual([['m0', 'm0'], 1]);
  });

  it('is idle after an add that failed', async () => {
    consume();
    await queue.idle();
    vi.spyOn(store, 'insert').mockRejectedValueOnce(new Error('disk full'));
    const adding = queue.add([message('m0')]);
    let isIdle = false;
    void queue.idle().then(() => (isIdle = true));
    await expect(adding).rejects.toThrow('disk full');
    await waitFor(() => isIdle);
    await queue.add([message('m1')]);
    await queue.idle();
    expect(handedOut).toEqual(['m1']);
  });

  it('is not idle before what could not be read at first is delivered, and hands out nothing before it', async () => {
    await queue.add(messages(3));
    const claim = vi.spyOn(store, 'claim').mockRejectedValueOnce(new Error('disk gone'));
    consume();
    const idle = queue.idle();
    await queue.add([message('m3')]);
    await queue.add([message('m4')]);
    expect(claim).toHaveBeenCalledTimes(1);
    await idle;
    expect(handedOut).toEqual(messages(5).map(({ messageId }) => messageId));
  });

  it('gives up waiting for what could not be read when its consumer is gone', async () => {
    await queue.add(messages(3));
    vi.spyOn(store, 'claim').mockRejectedValueOnce(new Error('disk gone'));
    const consumer = consume();
    const idle = queue.idle();
    consumer.unsubscribe();
    await idle;
    expect(handedOut).toEqual([]);
  });
});
