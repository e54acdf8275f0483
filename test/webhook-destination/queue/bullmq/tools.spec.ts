import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { DeliveryOutcome } from 'nestjs-analytics-relay';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { describeOnEach, REDIS_URL, redisStore } from '../../../support/services.js';
import { openQueue } from '../../../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const delivery = (messageId: string) => ({
  destination: 'Webhooks',
  source: 'shop',
  messageId,
  userId: 'u1',
  body: Buffer.from('{"event":"Ordered"}'),
  acceptedAt: Date.now(),
});

await describeOnEach([redisStore], (store) => {
  describe(`What BullMQ's tools read on ${store.name}`, () => {
    const afterwards = useCleanUps();

    it('are the attempts and failures of each delivery', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await openQueue(afterwards, sharedQueue(options));
      await queue.add([delivery('m1')]);
      const tool = new Queue('Webhooks', { connection: { url: REDIS_URL }, prefix: options.prefix });
      afterwards(() => tool.close());
      const settle = async (outcome: DeliveryOutcome | undefined) => {
        expect(await (await firstValueFrom(queue.consume('Webhooks', 1))).settle(outcome)).toBe(true);
        return (await tool.getJobs())[0]!;
      };
      const url = 'https://example.com/';
      const failed = { startedAt: 1, results: [{ url, outcome: 'temporary', status: 503, duration: 1 } as const] };
      const nextAttemptAt = Date.now();
      const rest = { nextAttemptAt, failedUrls: [] };
      expect(await settle(undefined)).toMatchObject({ attemptsMade: 0, stacktrace: [] });
      expect(await settle({ state: 'waiting', ...rest })).toMatchObject({ attemptsMade: 0 });
      expect((await tool.getJobs())[0]!.failedReason).toBeUndefined();
      expect(await settle({ state: 'waiting', attempt: failed, ...rest })).toMatchObject({
        attemptsMade: 1,
        failedReason: `${url}: 503`,
        data: { messageId: 'm1', attempts: [failed] },
      });
      expect(await settle({ state: 'dead', attempt: failed, reason: 'refused', failedUrls: [url] })).toMatchObject({
        attemptsMade: 2,
        failedReason: 'refused',
        stacktrace: [],
        data: { attempts: [failed, failed], failedUrls: [url] },
      });
      await queue.replay({});
      const attempt = { startedAt: 2, results: [] };
      const delivered = await settle({ state: 'delivered', attempt });
      expect(delivered).toMatchObject({ attemptsMade: 3, returnvalue: attempt });
      expect(delivered.failedReason).toBeUndefined();
      expect(await delivered.getState()).toBe('completed');
    });

    it('are the deliveries, as jobs of a queue named after the destination', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await openQueue(afterwards, sharedQueue(options));
      await queue.add(['dead', 'waiting'].map(delivery));
      for (const state of ['dead', 'waiting'] as const) {
        const lease = await firstValueFrom(queue.consume('Webhooks', 1));
        await lease.settle({ state, reason: 'refused', nextAttemptAt: Date.now() + 60_000, failedUrls: [] });
      }
      await queue.add([delivery('queued')]);
      const tool = new Queue('Webhooks', { connection: { url: REDIS_URL }, prefix: options.prefix });
      afterwards(() => tool.close());
      expect(await tool.getJobCounts('wait', 'delayed', 'failed')).toEqual({ wait: 1, delayed: 1, failed: 1 });
      const [failed] = await tool.getFailed();
      expect(failed).toMatchObject({ name: 'delivery', failedReason: 'refused' });
      expect(failed!.data).toMatchObject({ source: 'shop', messageId: 'dead', body: '{"event":"Ordered"}' });
      expect(await tool.getWorkers()).toEqual([]);
    });
  });
});

await describeOnEach([redisStore], (store) => {
  describe('A connection of @nestjs/bullmq', () => {
    const afterwards = useCleanUps();

    it('can be passed to the queue', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
      afterwards(() => redis.disconnect());
      const testing = await Test.createTestingModule({
        imports: [BullModule.forRoot({ connection: redis }), BullModule.registerQueue({ name: 'mail' })],
      }).compile();
      const app = await testing.init();
      afterwards(() => app.close());
      const { connection } = app.get<Queue>(getQueueToken('mail')).opts;
      const queue = sharedQueue({ ...options, connection })();
      await queue.open();
      await queue.add([delivery('m1')]);
      const lease = await firstValueFrom(queue.consume('Webhooks', 1));
      await lease.settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      expect(await queue.list({})).toMatchObject([{ messageId: 'm1', state: 'delivered' }]);
      await queue.close();
      expect(await redis.ping()).toBe('PONG');
    });
  });
});
