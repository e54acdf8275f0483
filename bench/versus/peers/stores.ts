import { Redis } from 'ioredis';
import pg from 'pg';

/** The stores that are used; `BENCH_REDIS_URL` and `BENCH_POSTGRES_URL` name others. */
export const REDIS_URL = process.env.BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379';
export const POSTGRES_URL = process.env.BENCH_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';

async function query<T>(sql: string): Promise<T[]> {
  const client = new pg.Client(POSTGRES_URL);
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
}

/** Counts rows of PostgreSQL. */
export async function countRows(from: string): Promise<number> {
  const [row] = await query<{ count: number }>(`SELECT count(*)::int AS count FROM ${from}`);
  return row!.count;
}

/** Removes all that was kept under a prefix, in both stores. */
export async function removePrefix(prefix: string): Promise<void> {
  await query(`DROP SCHEMA IF EXISTS ${prefix} CASCADE`);
  const redis = new Redis(REDIS_URL);
  for (const match of [`${prefix}:*`, `{${prefix}}:*`]) {
    for await (const keys of redis.scanStream({ match, count: 10_000 })) {
      if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
    }
  }
  redis.disconnect();
}

/** Versions and the settings that decide what a crash of a store loses. */
export async function describeStores(): Promise<string> {
  const redis = new Redis(REDIS_URL);
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1];
  const [, appendOnly] = (await redis.config('GET', 'appendonly')) as string[];
  redis.disconnect();
  const [row] = await query<{ server: string; fsync: string; commit: string }>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS server, current_setting('fsync') AS fsync,
            current_setting('synchronous_commit') AS commit`,
  );
  return (
    `Redis ${version} with appendonly ${appendOnly}; ` +
    `PostgreSQL ${row!.server} with fsync ${row!.fsync} and synchronous_commit ${row!.commit}`
  );
}
