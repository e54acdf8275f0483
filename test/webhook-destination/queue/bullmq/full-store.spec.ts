import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { ownRedis } from '../../../support/own-services.js';
import { describeOnEach, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

await describeOnEach([redisStore], () => {
  describe('A Redis without room', () => {
    const afterwards = useCleanUps();

    it('gets some by a sweep, and the messages that it removes are remembered all the same', async () => {
      const service = await ownRedis(['--maxmemory-policy', 'noeviction']);
      afterwards(() => service.remove());
      await service.start();
      const queue = await openQueue(
        afterwards,
        sharedQueue({ ...service.options, retention: { delivered: { count: 0 } } }),
      );
      queue.consume('Webhooks', 16).subscribe((lease) => {
        void lease
          .settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } })
          .catch(() => undefined);
      });
      const delivery = (messageId: string) => ({
        destination: 'Webhooks',
        source: 'shop',
        messageId,
        userId: 'u1',
        body: Buffer.alloc(1_000, ' '),
        acceptedAt: Date.now(),
      });
      const ids = Array.from({ length: 300 }, (_, index) => `m${index}`);
      await queue.add(ids.map(delivery));
      await waitFor(async () => (await queue.counts()).every(({ state }) => state === 'delivered'));
      const redis = new Redis(service.url);
      afterwards(() => redis.disconnect());
      const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1]);
      await redis.config('SET', 'maxmemory', used - 100_000);
      await expect(queue.add([delivery('refused')])).rejects.toThrow('OOM');
      expect((await queue.sweep()).removed).toBe(300);
      await queue.add([...ids, 'new'].map(delivery));
      await waitFor(async () => (await queue.counts()).every(({ state }) => state === 'delivered'));
      expect(await queue.list({})).toMatchObject([{ messageId: 'new' }]);
    });
  });
});
