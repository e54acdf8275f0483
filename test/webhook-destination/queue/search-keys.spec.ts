import { cpSync } from 'node:fs';

import { Redis } from 'ioredis';
import Database from 'libsql';
import {
  type DeliveryQueue,
  type DeliveryQueueFactory,
  type RetentionOptions,
  sqliteQueue,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { describeOnEach, REDIS_URL, redisStore } from '../../support/services.js';
import { sharedQueue } from '../../support/shared-queue.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const RETENTION: RetentionOptions = { delivered: { count: 1 } };

const ordered = (messageId: string, orderId: number) => ({
  ...newDelivery(messageId),
  body: Buffer.from(JSON.stringify({ properties: { orderId } })),
});

/** Delivers three orders, of which a sweep keeps one, and purges it; resolves with the number of keys at each moment. */
async function countKeys(factory: DeliveryQueueFactory, count: () => Promise<number>, fields: string[]) {
  const countAfter = async (work: (queue: DeliveryQueue) => Promise<unknown>) => {
    const queue = factory();
    queue.searchBy(fields);
    await queue.open();
    await work(queue).finally(() => queue.close()); // an open SQLite file is locked
    return count();
  };
  const added = await countAfter((queue) => queue.add([ordered('m0', 1), ordered('m1', 2), ordered('m2', 2)]));
  const swept = await countAfter(async (queue) => {
    let settled = 0;
    const consumer = queue.consume('Webhooks', 10).subscribe((lease) => {
      const attempt = { startedAt: Date.now(), results: [] };
      void lease.settle({ state: 'delivered', attempt }).then(() => settled++);
    });
    await waitFor(() => settled === 3);
    consumer.unsubscribe();
    await queue.sweep();
  });
  return [added, swept, await countAfter((queue) => queue.purge({}))];
}

describe('Keys of searched values', () => {
  const cleanUp = useCleanUps();

  it.each([
    [['properties.orderId'], [3, 1, 0]],
    [[], [0, 0, 0]],
  ])('go with their deliveries from a SQLite file, with the fields %j', async (fields, counts) => {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const count = () => {
      // A copy: the driver keeps a file open for as long as its statements exist.
      cpSync(path, `${path}.copy`);
      const file = new Database(`${path}.copy`);
      const { rows } = file.prepare('SELECT count(*) AS rows FROM search_key').get() as { rows: number };
      file.close();
      return Promise.resolve(rows);
    };
    expect(await countKeys(sqliteQueue({ path, retention: RETENTION }), count, fields)).toEqual(counts);
  });
});

await describeOnEach([redisStore], () => {
  describe('Keys of searched values', () => {
    const cleanUp = useCleanUps();

    it.each([
      [['properties.orderId'], [3, 2, 0]],
      [[], [0, 0, 0]],
    ])('go with their deliveries from Redis, with the fields %j', async (fields, counts) => {
      const { options, remove } = redisStore.create();
      cleanUp(remove);
      const redis = new Redis(REDIS_URL);
      cleanUp(() => redis.disconnect());
      // Two sets of values, and the hash that has the keys of each job.
      const count = async () => (await redis.keys(`${options.prefix}:{search*`)).length;
      expect(await countKeys(sharedQueue({ ...options, retention: RETENTION }), count, fields)).toEqual(counts);
    });
  });
});
