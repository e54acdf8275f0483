import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';

import { Redis } from 'ioredis';
import pg from 'pg';
import { describe } from 'vitest';

import type { SharedQueueOptions } from './shared-queue.js';

/** Where the tests find the stores; each test has a prefix or a schema of its own there. */
export const REDIS_URL = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';
export const POSTGRES_URL = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';

/** A place in a store for the queues of one test. */
export interface SharedPlace {
  options: SharedQueueOptions;
  remove: () => Promise<void>;
}

/** A store that queues can share. */
export interface SharedStore {
  name: string;
  url: string;
  create: () => SharedPlace;
}

export const redisStore: SharedStore = {
  name: 'Redis',
  url: REDIS_URL,
  create: () => {
    const prefix = `test-${randomUUID()}`;
    const remove = async () => {
      const redis = new Redis(REDIS_URL);
      const keys = await redis.keys(`${prefix}:*`);
      if (keys.length > 0) await redis.del(keys);
      redis.disconnect();
    };
    return { options: { connection: REDIS_URL, prefix }, remove };
  },
};

export const postgresStore: SharedStore = {
  name: 'PostgreSQL',
  url: POSTGRES_URL,
  create: () => {
    const prefix = `test_${randomUUID().replaceAll('-', '')}`;
    const remove = () => queryPostgres(`DROP SCHEMA IF EXISTS ${prefix} CASCADE`).then(() => undefined);
    return { options: { backend: 'postgres', connection: POSTGRES_URL, prefix }, remove };
  },
};

/** Runs one statement. */
export async function queryPostgres(text: string, url = POSTGRES_URL): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows as unknown[];
}

/** Tests on each store. Without it they are skipped with a line that says so; in CI that is a failure. */
export async function describeOnEach(stores: SharedStore[], suite: (store: SharedStore) => void): Promise<void> {
  for (const store of stores) {
    const { hostname, port } = new URL(store.url);
    if (await answers(hostname, Number(port))) {
      suite(store);
      continue;
    }
    const line = `${store.name} does not answer on ${hostname}:${port}`;
    if (process.env.CI) throw new Error(`${line}, and CI must not pass without it`);
    // Vitest does not show the names of what is skipped.
    process.stderr.write(`Tests skipped: ${line}\n`);
    describe.skip(`skipped: ${line}`, () => suite(store));
  }
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
