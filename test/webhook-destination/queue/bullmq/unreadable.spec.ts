import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { openQueue } from '../../../support/open-queue.js';
import { describeOnEach, REDIS_URL, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
const errors: string[] = [];
vi.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => void errors.push(String(line)));
afterEach(() => void errors.splice(0));

const REASON = 'the stored delivery cannot be read';

await describeOnEach([redisStore], (store) => {
  describe('A job on Redis that cannot be read', () => {
    const afterwards = useCleanUps();

    /** How a job was damaged, by its messageId; undefined for jobs that stay as they are. */
    const damage: Record<string, ((redis: Redis, key: string) => Promise<unknown>) | undefined> = {
      first: undefined,
      evicted: (redis, key) => redis.del(key),
      'without data': (redis, key) => redis.hdel(key, 'data'),
      'without its time': (redis, key) => redis.hdel(key, 'timestamp'),
      'with other data': (redis, key) => redis.hset(key, 'data', '{"body":1}'),
      'with damaged data': (redis, key) => redis.hset(key, 'data', '{"source":"shop","mess'),
      'with damaged attempts': (redis, key) =>
        redis.hset(key, 'data', '{"source":"shop","messageId":"m","body":"{}","attempts":"{"}'),
      'with damaged options': (redis, key) => redis.hset(key, 'opts', '{'),
      'that is no job': (redis, key) => redis.set(key, 'of another application'),
      last: undefined,
    };
    const damaged = Object.values(damage).filter((change) => change).length;

    it('is set aside and named once; the others are delivered', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const redis = new Redis(REDIS_URL);
      afterwards(() => redis.disconnect());
      const queue = await openQueue(afterwards, sharedQueue(options));
      await queue.add(Object.keys(damage).map(newDelivery));
      for (const { id, messageId } of await queue.list({})) {
        const [name, jobId] = id.split(':');
        await damage[messageId]?.(redis, `${options.prefix}:${name}:${jobId}`);
      }
      expect(await queue.oldest()).toHaveLength(1);

      const taken: string[] = [];
      const consumer = queue.consume('Webhooks', 2).subscribe(({ delivery, settle }) => {
        taken.push(delivery.messageId);
        void settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      });
      afterwards(() => consumer.unsubscribe());
      await waitFor(async () => (await queue.check()).unreadable === damaged);
      await queue.idle();
      expect(taken).toEqual(['first', 'last']);
      expect(await queue.counts()).toEqual([
        { destination: 'Webhooks', state: 'delivered', count: 2 },
        { destination: 'Webhooks', state: 'dead', count: damaged },
      ]);
      const dead = await queue.list({ state: 'dead' });
      expect(dead.map(({ reason }) => reason)).toEqual(Array(damaged).fill(REASON));
      expect(errors).toHaveLength(damaged);
      for (const { id } of dead) {
        expect(errors.filter((line) => line.startsWith(`Delivery ${id} to "Webhooks" cannot be read`))).toHaveLength(1);
      }

      expect(await queue.replay({ state: 'dead' })).toBe(damaged);
      await waitFor(async () => (await queue.counts()).some(({ count }) => count === damaged));
      await queue.idle();
      expect((await queue.check()).unreadable).toBe(damaged);
      expect(await queue.purge({ state: 'dead', reason: REASON })).toBe(damaged);
      expect((await queue.check()).unreadable).toBe(0);
      await queue.add([newDelivery('next')]);
      await waitFor(() => taken.includes('next'));
    });
  });
});
