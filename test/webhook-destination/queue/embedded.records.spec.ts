import { Logger } from '@nestjs/common';
import {
  type DeliveryOutcome,
  type DeliveryQueue,
  type Lease,
  memoryQueue,
  type RetentionOptions,
  sqliteQueue,
} from 'nestjs-analytics-relay';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { DeliveryStore } from '../../../lib/webhook-destination/queue/store/delivery-store.interface.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery as message } from '../../support/new-delivery.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const attempt = () => ({ startedAt: Date.now(), results: [] });
const delivered = (): DeliveryOutcome => ({ state: 'delivered', attempt: attempt() });

describe.each(['SQLite', 'memory'])('The records of an embedded queue, %s,', (engine) => {
  const afterwards = useCleanUps();
  let queue: DeliveryQueue;

  beforeEach(() => start());

  async function start(retention?: RetentionOptions): Promise<void> {
    const folder = await temporaryFolder(afterwards);
    queue = await openQueue(
      afterwards,
      engine === 'memory' ? memoryQueue({ retention }) : sqliteQueue({ path: folder.path('relay.db'), retention }),
    );
  }

  /** What a consumer got of messages that were accepted one by one. */
  async function lease(...messageIds: string[]): Promise<Lease[]> {
    const leases: Lease[] = [];
    const subscription = queue.consume('Webhooks', 64).subscribe((lease) => leases.push(lease));
    afterwards(() => subscription.unsubscribe());
    for (const messageId of messageIds) await queue.add([message(messageId)]);
    await waitFor(() => leases.length === messageIds.length);
    return leases;
  }

  const names = async () => (await queue.list({})).map(({ messageId }) => messageId);

  it('go at their age, whatever was accepted before and ended after', async () => {
    const [first, second] = await lease('first', 'second');
    await second!.settle(delivered());
    const between = Date.now();
    await waitFor(() => Date.now() > between);
    await first!.settle(delivered());
    const { store } = queue as unknown as { store: DeliveryStore };
    const never = { age: 3_600_000, count: 1_000 };
    const bounds = { dead: never, messageIds: never, refused: never };
    const retention = { ...bounds, delivered: { ...never, age: 0, bytes: 1_000_000 } };
    expect((await store.sweep(retention, between)).removed).toBe(1);
    expect(await names()).toEqual(['first']);
  });

  it('have the ids that were posted, whatever is in them, at each attempt', async () => {
    const [messageId, userId] = ['order\u0000-1', 'u\u0000"\\1'];
    const leases: Lease[] = [];
    const subscription = queue.consume('Webhooks', 1).subscribe((lease) => leases.push(lease));
    afterwards(() => subscription.unsubscribe());
    await queue.add([{ ...message(messageId), userId }]);
    await waitFor(() => leases.length === 1);
    await leases[0]!.settle({ state: 'waiting', attempt: attempt(), nextAttemptAt: Date.now(), failedUrls: [] });
    await waitFor(() => leases.length === 2);
    expect(leases.map(({ delivery }) => [delivery.messageId, delivery.userId])).toEqual([
      [messageId, userId],
      [messageId, userId],
    ]);
    expect(await queue.list({ messageId, userId })).toMatchObject([{ messageId, userId }]);
    expect(await queue.purge({ userId })).toBe(1);
  });

  it('are gone from memory too once purged, though the rest of the purge fails', async () => {
    const { store } = queue as unknown as { store: DeliveryStore };
    const leases: Lease[] = [];
    const subscription = queue.consume('Webhooks', 1).subscribe((lease) => leases.push(lease));
    afterwards(() => subscription.unsubscribe());
    await queue.add(['m1', 'm2', 'm3'].map((messageId) => ({ ...message(messageId), userId: 'u1' })));
    await waitFor(() => leases.length === 1);
    store.scrub ??= () => Promise.resolve();
    vi.spyOn(store, 'scrub').mockRejectedValueOnce(new Error('disk full'));
    await expect(queue.purge({ userId: 'u1' })).rejects.toThrow('disk full');
    await queue.add([{ ...message('m4'), userId: 'u2' }]);
    await leases[0]!.settle(delivered());
    await waitFor(() => leases.length === 2);
    expect(leases[1]!.delivery.messageId).toBe('m4');
  });

  it('of many purges are overwritten together, once all are gone', async () => {
    const { store } = queue as unknown as { store: DeliveryStore };
    const userIds = Array.from({ length: 8 }, (_, user) => `u${user}`);
    await queue.add(userIds.map((userId) => ({ ...message(userId), userId })));
    const left: number[] = [];
    store.scrub ??= () => Promise.resolve();
    const { scrub } = store;
    vi.spyOn(store, 'scrub').mockImplementation(async () => {
      left.push((await store.list({}, { limit: 100, after: undefined })).length);
      await scrub.call(store);
    });
    const purged = await Promise.all(userIds.map((userId) => queue.purge({ userId })));
    expect(purged).toEqual(userIds.map(() => 1));
    expect(left.length).toBeLessThan(userIds.length);
    expect(left.at(-1)).toBe(0);
  });

  it('tell that what was leased when the queue was closed waits', async () => {
    const [first] = await lease('m0', 'm1', 'm2', 'm3');
    await first!.settle(delivered());
    await queue.close();
    await queue.open();
    expect((await queue.list({ state: 'waiting' })).map(({ messageId }) => messageId)).toEqual(['m3', 'm2', 'm1']);
    expect(await queue.counts()).toEqual(
      expect.arrayContaining([
        { destination: 'Webhooks', state: 'waiting', count: 3 },
        { destination: 'Webhooks', state: 'delivered', count: 1 },
      ]),
    );
  });
});
