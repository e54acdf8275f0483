import { Logger } from '@nestjs/common';
import { type IQueueBackend, RedisQueueBackend } from 'bullmq';
import type { DeliveryOutcome, DeliveryQueue, DeliveryRecord, Lease, NewDelivery } from 'nestjs-analytics-relay';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { describeOnEach, postgresStore, redisStore, type SharedPlace } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const messages = (count: number): NewDelivery[] =>
  Array.from({ length: count }, (_, index) => ({
    destination: 'A/B: 1',
    source: 'shop',
    messageId: `m${index}`,
    userId: 'u1',
    body: Buffer.from('{}'),
    acceptedAt: Date.now(),
  }));

const delivered = (): DeliveryOutcome => ({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`Two queues on one ${store.name}`, () => {
    let place: SharedPlace;
    let one: DeliveryQueue;
    let other: DeliveryQueue;

    beforeEach(async () => {
      place = store.create();
      [one, other] = [sharedQueue(place.options)(), sharedQueue(place.options)()];
      await Promise.all([one.open(), other.open()]);
    });
    afterEach(async () => {
      await Promise.all([one.close(), other.close()]);
      await place.remove();
    });

    it('deliver each delivery once, whichever takes it, to a destination of any name', async () => {
      const taken: string[][] = [[], []];
      [one, other].forEach((queue, index) =>
        queue.consume('A/B: 1', 8).subscribe((lease) => {
          taken[index]!.push(lease.delivery.messageId);
          void lease.settle(delivered());
        }),
      );
      await one.add(messages(300));
      await waitFor(() => taken.flat().length >= 300);
      expect(new Set(taken.flat()).size).toBe(300);
      expect(taken.every((ids) => ids.length > 0)).toBe(true);
      await waitFor(async () => (await other.counts()).every(({ state }) => state === 'delivered'));
      expect(taken.flat()).toHaveLength(300);
    });

    it('hand out what one of them gave back before all else', async () => {
      await one.add(messages(3));
      const lease = await firstValueFrom(one.consume('A/B: 1', 1));
      await lease.settle(undefined);
      const taken: string[] = [];
      other.consume('A/B: 1', 8).subscribe(({ delivery }) => taken.push(delivery.messageId));
      await waitFor(() => taken.length >= 3);
      expect(taken).toEqual(['m0', 'm1', 'm2']);
    });

    it('end leases of each other with a purge', async () => {
      await one.add(messages(2));
      const lease = await firstValueFrom(one.consume('A/B: 1', 1));
      expect(await other.purge({ userId: 'u1' })).toBe(2);
      expect(await lease.settle(delivered())).toBe(false);
      expect(await one.counts()).toEqual([]);
    });

    it('withdraw what the other purged, where they have not handed it out yet', async () => {
      const leases: Lease[] = [];
      one.consume('A/B: 1', 1).subscribe((lease) => leases.push(lease));
      const named: string[] = [];
      const following = one.due$.subscribe((name) => named.push(name));
      const [first, second, third] = messages(3);
      await one.add([first!, { ...second!, userId: 'u2' }, third!]);
      await waitFor(async () => (await other.counts()).every(({ state }) => state === 'delivering'));
      expect(await other.purge({ userId: 'u2' })).toBe(1);
      await other.add([{ ...first!, messageId: 'm3', destination: 'Next' }]);
      await waitFor(() => named.includes('Next')); // signals come in their order
      await leases[0]!.settle(delivered());
      await waitFor(() => leases.length === 2);
      expect(leases[1]!.delivery.messageId).toBe('m2');
      following.unsubscribe();
    });

    // In PostgreSQL a purge reads a delivery and its state with one statement.
    (store.name === 'Redis' ? it : it.skip)('purge a retry that falls due while they look for it', async () => {
      await one.add(messages(1));
      const lease = await firstValueFrom(one.consume('A/B: 1', 1));
      await lease.settle({ state: 'waiting', nextAttemptAt: Date.now() + 60_000, failedUrls: [] });
      const [{ id }] = (await one.list({})) as [DeliveryRecord];
      // A purge reads the waiting ones with this; by then it is due.
      const Backend = RedisQueueBackend;
      const { getRanges } = Backend.prototype;
      const spy = vi.spyOn(Backend.prototype, 'getRanges').mockImplementation(async function (
        this: IQueueBackend,
        ...args
      ) {
        if (args[0].includes('delayed')) await this.promote(id.split(':')[1]!).catch(() => undefined);
        return getRanges.apply(this as never, args);
      });
      const purged = await other.purge({ userId: 'u1' });
      spy.mockRestore();
      expect(purged).toBe(1);
    });

    (store.name === 'Redis' ? it : it.skip)(
      'record that one is to be tried again, though the next one cannot be taken',
      async () => {
        await one.add(messages(1));
        const leases: Lease[] = [];
        one.consume('A/B: 1', 1).subscribe((lease) => leases.push(lease));
        await waitFor(() => leases.length > 0);
        const { prototype } = RedisQueueBackend;
        const spy = vi.spyOn(prototype, 'moveToActive').mockRejectedValue(new Error('deadlock detected'));
        const settled = await leases[0]!.settle({
          state: 'waiting',
          nextAttemptAt: Date.now() + 60_000,
          failedUrls: [],
        });
        spy.mockRestore();
        expect(settled).toBe(true);
        expect(await other.list({})).toMatchObject([{ state: 'waiting' }]);
      },
    );

    // In PostgreSQL a replay reads a delivery and changes it with one statement.
    (store.name === 'Redis' ? it : it.skip)(
      'replay what the other is replaying without losing an attempt',
      async () => {
        await one.add(messages(1));
        const lease = await firstValueFrom(one.consume('A/B: 1', 1));
        await lease.settle({ state: 'dead', reason: 'refused', failedUrls: [] });
        const { prototype } = RedisQueueBackend;
        const { getJobData } = prototype;
        const spy = vi.spyOn(prototype, 'getJobData').mockImplementationOnce(async function (this: object, ...args) {
          const read: unknown = await getJobData.apply(this as never, args);
          await other.replay({ state: 'dead' });
          const again = await firstValueFrom(other.consume('A/B: 1', 1));
          await again.settle({
            state: 'waiting',
            attempt: { startedAt: Date.now(), results: [] },
            nextAttemptAt: Date.now() + 60_000,
            failedUrls: ['https://gone.example/'],
          });
          return read as never;
        });
        expect(await one.replay({ state: 'dead' })).toBe(0);
        spy.mockRestore();
        expect(await one.list({})).toMatchObject([{ state: 'waiting', attempts: [{ results: [] }] }]);
      },
    );

    it('see what the other has made due by a replay', async () => {
      await one.add(messages(1));
      const lease = await firstValueFrom(one.consume('A/B: 1', 1));
      await lease.settle({ state: 'dead', reason: 'refused', failedUrls: [] });
      const again = firstValueFrom(one.consume('A/B: 1', 1));
      expect(await other.replay({ state: 'dead' })).toBe(1);
      expect((await again).delivery).toMatchObject({ messageId: 'm0', firstAttemptAt: expect.any(Number) });
    });
  });
});
