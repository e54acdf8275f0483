import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { ownRedis } from '../../../support/own-services.js';
import { Relay } from '../../../support/relay.js';
import { describeOnEach, postgresStore, queryPostgres, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const DELIVERIES = 5_000;

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`A deletion on ${store.name}`, () => {
    const afterwards = useCleanUps();

    /** A queue in a place of its own, and how often the store has read a job since the last time this was asked. */
    const createPlace = async () => {
      if (store.name === 'Redis') {
        const redis = await ownRedis(['--appendonly', 'no']);
        afterwards(() => redis.remove());
        await redis.start();
        const client = new Redis(redis.url);
        afterwards(() => client.disconnect());
        const reads = async () => {
          const stats = await client.info('commandstats');
          await client.config('RESETSTAT');
          return ['hget', 'hgetall'].reduce(
            (sum, command) => sum + Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
            0,
          );
        };
        return { options: redis.options, reads };
      }
      const { options, remove } = store.create();
      afterwards(remove);
      const name = options.prefix!;
      let last = 0;
      const reads = async () => {
        // A connection tells what it has read when it ends.
        const open = `SELECT FROM pg_stat_activity WHERE application_name = '${name}'`;
        await waitFor(async () => (await queryPostgres(open)).length === 0);
        const [row] = (await queryPostgres(
          `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_user_tables
           WHERE schemaname = '${name}' AND relname = 'relay_delivery'`,
        )) as [{ read: number }];
        const since = row.read - last;
        last = row.read;
        return since;
      };
      return { options: { ...options, connection: `${store.url}?application_name=${name}` }, reads };
    };

    it('of 1,000 users reads the queue as often as one of a single user', async () => {
      const { options, reads } = await createPlace();
      const acceptedAt = Date.now();
      const body = Buffer.from('{}');
      const fill = async () => {
        const queue = sharedQueue(options)();
        await queue.open();
        const of = (index: number) => ({ messageId: `m${index}`, userId: `u${index % 2_000}`, body, acceptedAt });
        const all = Array.from({ length: DELIVERIES }, (_, index) => ({
          destination: 'A',
          source: 'shop',
          ...of(index),
        }));
        await queue.add(all);
        await queue.close();
      };
      const erase = async (userIds: string[]) => {
        const relay = await Relay.start({ destinations: [], queue: sharedQueue(options) });
        const { purged } = await relay.service.requestDeletion({ userIds });
        await relay.stop();
        return { purged, read: await reads() };
      };
      await fill();
      await reads();
      const one = await erase(['u1999']);
      expect(one.purged).toBe(2);
      const many = await erase(Array.from({ length: 1_000 }, (_, index) => `u${index + 1_000}`));
      expect(many.purged).toBe(1_998);
      expect(one.read).toBeGreaterThan(DELIVERIES);
      // Removing one reads it a few times.
      expect(many.read).toBeLessThan(one.read + 20 * many.purged);
    });
  });
});
