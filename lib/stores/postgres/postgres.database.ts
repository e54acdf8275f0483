import { setTimeout as sleep } from 'node:timers/promises';

import type { Client, Pool, PoolClient } from 'pg';

import { errorMessage } from '../../client/error.util.js';
import { ClosedError, QueueUnavailableError } from '../../common/relay.errors.js';
import { within } from '../../common/promise.util.js';
import type { CheckedPostgresOptions } from './postgres.options.js';
import { loadPg } from '../shared/peer.loader.js';
import { StoreOutage } from '../shared/store-outage.js';
import { toConfig } from './connection-config.js';
import { OpenConnections } from './open-connections.js';
import { checkPostgres } from './postgres-checks.js';
import { checkMigrations, migrate } from './postgres.migrations.js';
import { type Statement, StatementRunner } from './statement-runner.js';

/** Wait between two attempts to connect at start, in ms. */
const RECONNECT_DELAY = 250;

/** Wait after a deadlock, in ms: a statement repeated at once may take the lock that the other one waits for again. */
const DEADLOCK_WAIT = 50;

/** The connections of one process. */
export class PostgresDatabase extends StatementRunner {
  readonly prefix: string;
  readonly schema: string;
  /** Size of the pool. */
  readonly maxConnections: number;
  private readonly outage = new StoreOutage('PostgreSQL', 'PostgresQueue');
  private readonly connections = new OpenConnections();
  private closing = new AbortController();
  // Private, because they contain passwords.
  readonly #options: CheckedPostgresOptions;
  #pool: Pool | undefined;
  #create: (() => Client) | undefined;

  constructor(options: CheckedPostgresOptions) {
    super();
    this.#options = options;
    this.maxConnections = toConfig(options.connection).max;
    this.prefix = options.prefix;
    this.schema = `"${options.prefix}"`;
  }

  async open(): Promise<void> {
    const pg = await loadPg();
    const { connection, prefix, migrate: isMigrating } = this.#options;
    const config = toConfig(connection);
    // A migration has no timeout: it may take long, and it waits for others.
    const client = await this.connect(() => new pg.Client({ ...config, ...(isMigrating && { query_timeout: 0 }) }));
    try {
      await checkPostgres(client, () => this.connect(() => new pg.Client(config)));
      if (isMigrating) await migrate(client, prefix);
      else await checkMigrations(client, prefix);
    } finally {
      await client.end();
    }
    const Client = this.connections.track(pg.Client);
    this.#create = () => new Client(config);
    const pool = new pg.Pool({ ...config, Client });
    pool.on('error', () => undefined); // a connection ended while it was idle; the next statement opens another
    this.#pool = pool;
    this.closing = new AbortController();
  }

  /** Creates a connection outside the pool. */
  createClient(): Client {
    if (!this.#create) throw new ClosedError('the queue is closed');
    return this.#create();
  }

  query<Row>(statement: Statement | string, values: unknown[] = []): Promise<Row[]> {
    const query = typeof statement === 'string' ? { text: statement } : statement;
    return this.run(async (pool) => (await pool.query<Row & object>({ ...query, values })).rows);
  }

  /**
   * Runs a statement several times, all or none.
   *
   * @param values create the values of each time
   */
  async queryAll<Row>(statement: Statement, values: (() => unknown[])[]): Promise<Row[][]> {
    if (values.length === 1) return [await this.query<Row>(statement, values[0]!())];
    return this.run((pool) =>
      inTransaction(pool, async (client) => {
        const results: Row[][] = [];
        for (const create of values) {
          results.push((await client.query<Row & object>({ ...statement, values: create() })).rows);
        }
        return results;
      }),
    );
  }

  /**
   * Resolves after `time` ms.
   * @throws {ClosedError} as soon as the queue begins to close
   */
  async pause(time: number): Promise<void> {
    try {
      await sleep(time, undefined, { signal: this.closing.signal });
    } catch {
      throw new ClosedError('the queue is closed');
    }
  }

  /**
   * To be called after a change that is made regularly. Other statements do not end an outage: a server that has become
   * read-only still answers those that read.
   */
  endOutage(): void {
    this.outage.end();
  }

  /** To be called when the queue begins to close: queries, `close` included, then end within seconds. */
  beginClose(): void {
    this.closing.abort();
    this.connections.beginClose();
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#create = undefined;
    this.beginClose();
    await pool?.end();
    await this.connections.close();
  }

  private async run<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    const pool = this.#pool;
    if (!pool) throw new ClosedError('the queue is closed');
    try {
      return await work(pool).catch(async (error: unknown) => {
        if (!isDeadlock(error)) throw error;
        await sleep(DEADLOCK_WAIT);
        return work(pool); // the first try changed nothing
      });
    } catch (error) {
      if (isOutage(error)) this.outage.begin(error);
      throw error;
    }
  }

  /** Waits for PostgreSQL for at most `connectTimeout`. */
  private async connect(create: () => Client): Promise<Client> {
    const end = Date.now() + this.#options.connectTimeout;
    for (;;) {
      const client = create();
      client.on('error', () => undefined); // the affected query rejects
      try {
        await within(Math.max(end - Date.now(), 1), client.connect(), 'the connection');
        return client;
      } catch (error) {
        void client.end().catch(() => undefined);
        if (!isPassing(error) || Date.now() + RECONNECT_DELAY > end) {
          throw new QueueUnavailableError(`postgresQueue: PostgreSQL cannot be reached: ${errorMessage(error)}`, {
            cause: error,
          });
        }
        await sleep(RECONNECT_DELAY);
      }
    }
  }
}

/** Whether another attempt to connect may succeed; wrong credentials or a missing database need a correction. */
function isPassing(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return !/^(28|3D)/.test(code);
}

/**
 * Whether the connection failed, the server ended or refused it, or has become read-only; any other error is an answer
 * from an available server.
 */
function isOutage(error: unknown): boolean {
  const { code = '', severity } = error as { code?: string; severity?: string };
  return severity === undefined || /^(08|57P|25006|53300)/.test(code);
}

/** Whether PostgreSQL ended a statement that waited for another one that waited for it. */
function isDeadlock(error: unknown): boolean {
  return (error as { code?: string }).code === '40P01';
}

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const ignore = () => undefined; // the query in progress rejects
  client.on('error', ignore);
  let isDone = false;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    isDone = true;
    return result;
  } finally {
    client.off('error', ignore);
    client.release(!isDone); // after a failure, closing the connection rolls the transaction back
  }
}
