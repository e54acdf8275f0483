import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import {
  describeOnEach,
  postgresStore,
  queryPostgres,
  REDIS_URL,
  redisStore,
  type SharedPlace,
} from '../../support/services.js';
import { waitFor } from '../../support/wait-for.js';

const url = (version: number) => [`https://receiver.example/v${version}`];

type Restore = () => Promise<void>;

/** Saves the registry, and returns what brings it back, as a failover or a backup does. */
const backups = {
  Redis: async (prefix: string): Promise<Restore> => {
    const run = async <T>(work: (redis: Redis) => Promise<T>): Promise<T> => {
      const redis = new Redis(REDIS_URL);
      try {
        return await work(redis);
      } finally {
        redis.disconnect();
      }
    };
    const keysOf = (redis: Redis) => redis.keys(`${prefix}:{registry}:*`);
    const saved = await run(async (redis) =>
      Promise.all((await keysOf(redis)).map(async (key) => [key, await redis.dumpBuffer(key)] as const)),
    );
    return () =>
      run(async (redis) => {
        const changed = redis.multi().del(await keysOf(redis));
        for (const [key, value] of saved) changed.restore(key, 0, value);
        await changed.exec();
      });
  },
  PostgreSQL: async (schema: string): Promise<Restore> => {
    const table = `${schema}.relay_registry`;
    await queryPostgres(`CREATE TABLE ${table}_saved AS TABLE ${table}`);
    return async () => {
      await queryPostgres(`BEGIN; DELETE FROM ${table}; INSERT INTO ${table} TABLE ${table}_saved; COMMIT`);
    };
  },
};

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`The registry of a relay whose ${store.name} lost changes`, () => {
    const cleanUp = useCleanUps();

    const start = async ({ options }: SharedPlace) => {
      const relay = await Relay.start({ registry: 'store', queue: sharedQueue(options) });
      cleanUp(() => relay.stop());
      return { destinations: relay.service.destinations, log: relay.log };
    };
    /** A relay that has an update and a new destination of which the store knows nothing any more. */
    const lose = async () => {
      const place = store.create();
      cleanUp(place.remove);
      const relay = await start(place);
      await relay.destinations.create({ name: 'old', urls: url(1) });
      const restore = await backups[store.name as keyof typeof backups](place.options.prefix!);
      await relay.destinations.update('old', { urls: url(2) });
      await relay.destinations.create({ name: 'fresh', urls: url(1) });
      await restore();
      return { ...relay, place };
    };
    const unknown = { code: 'destination_unknown' };

    it('has what the store has, within seconds, and says so', async () => {
      const { destinations, log } = await lose();
      await waitFor(async () => (await destinations.get('fresh')) === undefined, undefined, 15_000);
      expect(await destinations.list()).toMatchObject([{ name: 'old', urls: url(1) }]);
      expect(log.matching(/The store has lost changes of the registry/)).toHaveLength(1);
    });

    it('has it before a change, which is then made', async () => {
      const { destinations } = await lose();
      expect(await destinations.update('old', { concurrency: 4 })).toMatchObject({ urls: url(1), concurrency: 4 });
      await expect(destinations.pause('fresh')).rejects.toMatchObject(unknown);
      expect(await destinations.create({ name: 'fresh', urls: url(3) })).toMatchObject({ urls: url(3) });
    });

    it('has it before a change though another process has repeated the last of those that were lost', async () => {
      const { destinations, place } = await lose();
      const other = await start(place);
      await other.destinations.create({ name: 'fresh', urls: url(3) });
      await waitFor(async () => (await destinations.get('fresh'))?.urls[0] === url(3)[0]);
      expect(await destinations.update('old', { concurrency: 4 })).toMatchObject({ urls: url(1), concurrency: 4 });
    });
  });
});
