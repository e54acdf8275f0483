import { setTimeout as sleep } from 'node:timers/promises';

import type { IQueueBackend, PostgresConnection } from 'bullmq';
import type { Client, Pool } from 'pg';

import { errorMessage } from '../../../common/error.util.js';
import { LineLogger } from '../../../common/line.logger.js';
import { QueueUnavailableError } from '../../../common/relay.errors.js';
import { within } from '../../../common/time.util.js';
import type { DeliveryState } from '../delivery-queue.interface.js';
import type { CheckedBullmqOptions } from '../shared/bullmq.options.js';
import { loadBullmq, loadPg } from '../shared/peer.loader.js';
import { PostgresEvents } from './postgres-events.js';
import { PostgresRegistryStore } from './postgres-registry.store.js';
import { checkMigrations, migrate } from './postgres.migrations.js';
import {
  BACKEND_SETTINGS,
  type DestinationJobs,
  type JobPlace,
  type JobWaiter,
  MAX_WAIT,
  type SeenDelivery,
  type SharedStore,
  type StoredJob,
} from '../bullmq/shared-store.interface.js';
import { StoreOutage } from '../shared/store-outage.js';

/** How long PostgreSQL may take for a query, and to give a connection, in ms. */
const QUERY_TIMEOUT = 10_000;

/** Wait between two attempts to connect at start, in ms. */
const RECONNECT_DELAY = 250;

/** The states as BullMQ's table names them. */
const JOB_STATES: Record<DeliveryState, string> = {
  queued: 'waiting',
  delivering: 'active',
  waiting: 'delayed',
  delivered: 'completed',
  dead: 'failed',
};

/** A row for each state: a row for each job would take the driver many times as long. */
const PLACES = `
  SELECT state::text AS state, json_agg(id) AS ids, json_agg(added_at_ms) AS times
  FROM job WHERE queue = $1 AND state::text = ANY($2::text[]) GROUP BY state`;

/** Many jobs with one statement, where BullMQ reads them one by one. */
const JOBS = `
  SELECT id, data::text AS data, added_at_ms::float8 AS timestamp, finished_at_ms::float8 AS "finishedOn",
    failed_reason AS "failedReason", stacktrace::text AS stacktrace, return_value::text AS returnvalue, progress
  FROM job WHERE queue = $1 AND id = ANY($2::text[])`;

/** Jobs in PostgreSQL. */
export class PostgresStore implements SharedStore {
  readonly registry = new PostgresRegistryStore(
    this.options.prefix,
    (text, values) => this.query(text, values),
    () => this.createClient(),
  );
  private readonly logger = new LineLogger('BullmqQueue');
  private readonly outage = new StoreOutage('PostgreSQL', this.logger);
  private readonly events = new PostgresEvents((text, values) => this.query(text, values));
  private bullmq!: typeof import('bullmq');
  private createClient!: () => Client;
  private connection: PostgresConnection | undefined;

  constructor(private readonly options: CheckedBullmqOptions) {}

  async open(): Promise<void> {
    this.bullmq = await loadBullmq();
    const { Client } = await loadPg();
    const { connection, prefix: schema } = this.options;
    const config = {
      connectionTimeoutMillis: QUERY_TIMEOUT,
      query_timeout: QUERY_TIMEOUT,
      keepAlive: true,
      ...toConfig(connection),
    };
    this.createClient = () => new Client(config);
    const isMigrating = this.options.migrate;
    // Migrations take the time they need, and wait for each other.
    const client = await this.connect(() => new Client({ ...config, ...(isMigrating && { query_timeout: 0 }) }));
    try {
      if (isMigrating) await migrate(this.bullmq, client, schema);
      else await checkMigrations(this.bullmq, client, schema);
    } finally {
      await client.end();
    }
    this.connection = new this.bullmq.PostgresConnection({ ...config, schema });
    this.connection.on('error', (error) => this.outage.begin(error));
    await this.connection.waitUntilReady();
  }

  backend(queueName: string, token?: string): IQueueBackend {
    const settings = { ...BACKEND_SETTINGS, name: token };
    return new this.bullmq.PostgresQueueBackend(this.connection!, queueName, settings as never, false);
  }

  async places(queueName: string, states: readonly DeliveryState[]): Promise<JobPlace[]> {
    const rows = await this.query<{ state: string; ids: string[]; times: number[] }>(PLACES, [
      queueName,
      states.map((state) => JOB_STATES[state]),
    ]);
    return rows.flatMap(({ state: jobState, ids, times }) => {
      const state = states.find((one) => JOB_STATES[one] === jobState)!;
      return ids.map((id, index) => ({ id, state, acceptedAt: times[index]! }));
    });
  }

  async jobs({ queueName }: DestinationJobs, ids: string[]): Promise<StoredJob[]> {
    const rows = await this.query<StoredJob>(JOBS, [queueName, ids]);
    return rows.map((row) => ({
      ...row,
      finishedOn: row.finishedOn ?? undefined,
      failedReason: row.failedReason ?? undefined,
    }));
  }

  waiter(queueName: string): JobWaiter {
    const backend = this.backend(queueName);
    let closed = false;
    return {
      wait: async () => {
        // It listens anew each time, as the connection that listened may be another by now.
        if (!closed) await backend.reconnectBlocking();
        await backend.waitForJob(MAX_WAIT / 1_000);
        this.outage.end();
      },
      close: () => {
        closed = true;
        void backend.disconnectBlocking();
      },
    };
  }

  async addDestination(destination: string): Promise<void> {
    await this.query('INSERT INTO relay_destination (name) VALUES ($1) ON CONFLICT DO NOTHING', [destination]);
  }

  async destinations(): Promise<string[]> {
    const rows = await this.query<{ name: string }>('SELECT name FROM relay_destination ORDER BY name', []);
    return rows.map(({ name }) => name);
  }

  noteAdded(queueName: string, count: number): void {
    this.events.note(queueName, count);
  }

  async remember(queueName: string, deliveries: SeenDelivery[]): Promise<void> {
    await this.query(
      `INSERT INTO relay_seen (queue, id, until_ms) SELECT $1, * FROM unnest($2::text[], $3::bigint[])
       ON CONFLICT (queue, id) DO UPDATE SET until_ms = excluded.until_ms`,
      [queueName, deliveries.map(({ id }) => id), deliveries.map(({ until }) => until)],
    );
  }

  async remembered(queueName: string, ids: string[]): Promise<Set<string>> {
    const rows = await this.query<{ id: string }>(
      'SELECT id FROM relay_seen WHERE queue = $1 AND id = ANY($2::text[]) AND until_ms > $3',
      [queueName, ids, Date.now()],
    );
    return new Set(rows.map(({ id }) => id));
  }

  async forgetOld(): Promise<void> {
    await this.query('DELETE FROM relay_seen WHERE until_ms <= $1', [Date.now()]);
  }

  async close(): Promise<void> {
    this.registry.close();
    if (!this.connection) return;
    // A host that is gone without a word does not answer the end of a connection either.
    await within(QUERY_TIMEOUT, this.connection.close(), 'closing').catch(() => undefined);
  }

  private async query<Row>(text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await this.connection!.pool.query<Row>(text, values);
    this.outage.end();
    return rows;
  }

  /** Waits for PostgreSQL as long as the options say. */
  private async connect(create: () => Client): Promise<Client> {
    const end = Date.now() + this.options.connectTimeout;
    for (;;) {
      const client = create();
      client.on('error', () => undefined); // a query that it breaks rejects
      try {
        await within(Math.max(end - Date.now(), 1), client.connect(), 'the connection');
        return client;
      } catch (error) {
        void client.end().catch(() => undefined);
        if (!isPassing(error) || Date.now() + RECONNECT_DELAY > end) {
          throw new QueueUnavailableError(`bullmqQueue: PostgreSQL cannot be reached: ${errorMessage(error)}`, {
            cause: error,
          });
        }
        await sleep(RECONNECT_DELAY);
      }
    }
  }
}

/** Wrong credentials and the like do not get right by waiting. */
function isPassing(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return !/^(28|3D)/.test(code);
}

/** The settings to connect with; a pool hides some of its own from a plain copy. */
function toConfig(connection: string | object): object {
  if (typeof connection === 'string') return { connectionString: connection };
  const { options } = connection as Partial<Pool>;
  if (typeof options !== 'object' || options === null) return connection;
  return { ...options, password: options.password };
}
