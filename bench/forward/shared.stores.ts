import { randomUUID } from 'node:crypto';

import { Redis } from 'ioredis';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';
import pg from 'pg';

/** The stores that are measured; `BENCH_REDIS_URL` and `BENCH_POSTGRES_URL` name others. */
export const REDIS_URL = process.env.BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379';
export const POSTGRES_URL = process.env.BENCH_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';

export type SharedEngine = 'redis' | 'postgres';

/** A prefix for a place of its own. */
export const newPrefix = (): string => `bench_${randomUUID().slice(0, 8)}`;

/** A queue in a place. */
export function storeQueue(engine: SharedEngine, prefix: string) {
  return engine === 'redis'
    ? bullmqQueue({ connection: REDIS_URL, prefix })
    : postgresQueue({ connection: POSTGRES_URL, prefix });
}

/** A queue in a place of its own, and how to empty that. */
export function sharedQueue(engine: SharedEngine) {
  const prefix = newPrefix();
  return { factory: storeQueue(engine, prefix), remove: () => removePlace(engine, prefix) };
}

/** Removes all that a queue has left in its store. */
export async function removePlace(engine: SharedEngine, prefix: string): Promise<void> {
  if (engine === 'postgres') {
    const client = new pg.Client(POSTGRES_URL);
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS ${prefix} CASCADE`);
    await client.end();
    return;
  }
  const redis = new Redis(REDIS_URL);
  for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 10_000 })) {
    if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
  }
  redis.disconnect();
}
