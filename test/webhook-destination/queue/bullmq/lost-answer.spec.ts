import { Logger } from '@nestjs/common';
import { RedisQueueBackend } from 'bullmq';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import type { Lease } from '../../../../lib/webhook-destination/queue/delivery.interface.js';

import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { describeOnEach, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

await describeOnEach([redisStore], (store) => {
  describe(`An outcome on ${store.name}`, () => {
    const cleanUp = useCleanUps();
    afterEach(() => {
      vi.restoreAllMocks();
    });

    /** Opens a queue with one delivery. */
    async function start() {
      vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
      const { options, remove } = store.create();
      cleanUp(remove);
      const queue = await openQueue(cleanUp, sharedQueue(options));
      await queue.add([newDelivery('m0')]);
      return { queue, options };
    }

    it('counts as recorded if only the answer was lost', async () => {
      const { queue } = await start();
      const { settle } = await firstValueFrom(queue.consume('Webhooks', 1));
      const { moveToCompleted } = RedisQueueBackend.prototype;
      vi.spyOn(RedisQueueBackend.prototype, 'moveToCompleted').mockImplementationOnce(async function (
        this: never,
        ...args
      ) {
        await moveToCompleted.apply(this, args);
        throw new Error('Command timed out');
      });
      expect(await settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } })).toBe(true);
      expect(await queue.counts()).toEqual([{ destination: 'Webhooks', state: 'delivered', count: 1 }]);
      await queue.idle();
    });

    it('does not count as recorded if another process took the job meanwhile', async () => {
      const { queue, options } = await start();
      const other = await openQueue(cleanUp, sharedQueue(options));
      const taken: Lease[] = [];
      const { settle } = await firstValueFrom(queue.consume('Webhooks', 1));
      vi.spyOn(RedisQueueBackend.prototype, 'moveToCompleted').mockImplementationOnce(async function (
        this: RedisQueueBackend,
        ...[{ id }, , , token]
      ) {
        await this.retryJob(id!, true, token); // as a process that recovers the job of an ended lease
        other.consume('Webhooks', 1).subscribe((lease) => taken.push(lease));
        await waitFor(() => taken.length === 1);
        throw new Error('Command timed out');
      });
      expect(await settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } })).toBe(false);
      expect(taken).toHaveLength(1);
    });
  });
});
