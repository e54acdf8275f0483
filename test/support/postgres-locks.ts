import pg from 'pg';

import { POSTGRES_URL, queryPostgres } from './services.js';
import { waitFor } from './wait-for.js';

/** What another transaction has locked. */
export interface PostgresLock {
  /** Resolves once this many statements wait for it, or one that contains the text. */
  blocks: (what: number | string) => Promise<void>;
  release: () => Promise<void>;
}

/** Has all statements about a table wait until the lock is released. */
export function lockTable(schema: string, table: string): Promise<PostgresLock> {
  return lock(`LOCK TABLE ${schema}.${table} IN ACCESS EXCLUSIVE MODE`);
}

/** Locks rows of a table. */
export function lockRows(schema: string, table: string): Promise<PostgresLock> {
  return lock(`SELECT FROM ${schema}.${table} FOR UPDATE`);
}

async function lock(statement: string): Promise<PostgresLock> {
  const client = new pg.Client(POSTGRES_URL);
  await client.connect();
  await client.query(`BEGIN; ${statement}`);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const blocked = async () =>
    (await queryPostgres(`SELECT query FROM pg_stat_activity WHERE ${rows[0]!.pid} = ANY(pg_blocking_pids(pid))`)) as {
      query: string;
    }[];
  return {
    blocks: (what) =>
      waitFor(async () => {
        const found = await blocked();
        return typeof what === 'number' ? found.length === what : found.some(({ query }) => query.includes(what));
      }),
    release: () => client.end(),
  };
}
