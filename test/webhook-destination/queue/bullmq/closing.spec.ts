import { RedisQueueBackend } from 'bullmq';
import type { DeliveryQueue, Lease } from 'nestjs-analytics-relay';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { describeOnEach, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const names = ['m0', 'm1', 'm2'];

/** How long what is under way takes while the queue closes, in ms. */
const DELAY = 200;

await describeOnEach([redisStore], (store) => {
  describe(`A queue on ${store.name} that is closed`, () => {
    const afterwards = useCleanUps();
    const { prototype } = RedisQueueBackend;
    afterEach(() => {
      vi.restoreAllMocks();
    });

    const open = async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const start = async () => {
        return openQueue(afterwards, sharedQueue(options));
      };
      const queue = await start();
      await queue.add(names.map(newDelivery));
      return { queue, start };
    };
    const taken = async (queue: DeliveryQueue, count: number) => {
      const leases: Lease[] = [];
      queue.consume('Webhooks', 8).subscribe((lease) => leases.push(lease));
      await waitFor(() => leases.length >= count);
      return leases;
    };

    it.each([
      ['', false],
      [', and that nobody consumes any more', true],
    ])('puts back what it is just taking, in its place%s', async (_how, unsubscribes) => {
      const { queue, start } = await open();
      const { moveToActive } = prototype;
      let isTaken = false;
      vi.spyOn(prototype, 'moveToActive').mockImplementation(async function (this: never, ...args) {
        const job: unknown[] = await moveToActive.apply(this, args);
        isTaken = true;
        await new Promise((resolve) => setTimeout(resolve, DELAY));
        return job as never;
      });
      const leases: Lease[] = [];
      const subscription = queue.consume('Webhooks', 8).subscribe((lease) => leases.push(lease));
      await waitFor(() => isTaken);
      if (unsubscribes) subscription.unsubscribe();
      await queue.close();
      expect(leases).toEqual([]);
      vi.restoreAllMocks();

      const again = await taken(await start(), 3);
      expect(again.map(({ delivery }) => delivery.messageId)).toEqual(names);
      expect(again.map(({ delivery }) => delivery.firstAttemptAt)).toEqual([undefined, undefined, undefined]);
    });

    it('records the outcome that it is just recording', async () => {
      const { queue, start } = await open();
      const lease = await firstValueFrom(queue.consume('Webhooks', 1));
      const { moveToCompleted } = prototype;
      vi.spyOn(prototype, 'moveToCompleted').mockImplementation(async function (this: never, ...args) {
        await new Promise((resolve) => setTimeout(resolve, DELAY));
        return moveToCompleted.apply(this, args);
      });
      const settled = lease.settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      await queue.close();
      expect(await settled).toBe(true);
      const [delivered] = await (await start()).list({ state: 'delivered' });
      expect(delivered).toMatchObject({ messageId: 'm0' });
    });
  });
});
