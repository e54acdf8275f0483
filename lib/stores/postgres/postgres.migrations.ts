import type { Client } from 'pg';

import { errorMessage } from '../../client/error.util.js';
import { QueueUnavailableError } from '../../common/relay.errors.js';
import { logTable } from './postgres-log.store.js';
import { registryTables } from './postgres-registry.store.js';
import { seriesTable } from './postgres-series.store.js';
import { recordingView } from './recording-view.js';

/** Version of the tables. */
export const LAYOUT = 1;

/**
 * Returns the SQL that creates the tables.
 *
 * @param schema quoted; it exists
 */
function tables(schema: string): string {
  return `
  CREATE TABLE ${schema}.relay_layout (
    version integer NOT NULL,
    signal_key bytea NOT NULL,
    relay_id uuid NOT NULL DEFAULT gen_random_uuid()
  );
  INSERT INTO ${schema}.relay_layout (version, signal_key) VALUES (${LAYOUT}, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

  CREATE SEQUENCE ${schema}.relay_delivery_id;
  CREATE TABLE ${schema}.relay_delivery (
    id bigint PRIMARY KEY DEFAULT nextval('${schema}.relay_delivery_id'),
    accepted_at bigint NOT NULL,
    due_at bigint NOT NULL,
    first_attempt_at bigint,
    ended_at bigint,
    lease bigint,
    leased_at bigint,
    state text COLLATE "C" NOT NULL,
    destination text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    reason text COLLATE "C",
    attempts text COLLATE "C",
    failed_urls text COLLATE "C",
    trace text COLLATE "C",
    recorded_by text COLLATE "C",
    search_keys bigint[],
    release text COLLATE "C",
    body bytea NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0.05);
  ALTER TABLE ${schema}.relay_delivery ALTER body SET STORAGE EXTERNAL;
  CREATE INDEX relay_delivery_open ON ${schema}.relay_delivery (destination, due_at, id) WHERE state IN ('queued', 'waiting');
  CREATE INDEX relay_delivery_leased ON ${schema}.relay_delivery (lease, leased_at) WHERE state = 'delivering';
  CREATE INDEX relay_delivery_ended ON ${schema}.relay_delivery (state, destination, ended_at, id) WHERE state IN ('delivered', 'dead');
  CREATE INDEX relay_delivery_search ON ${schema}.relay_delivery USING gin (search_keys) WHERE search_keys IS NOT NULL;
  CREATE INDEX relay_delivery_dead ON ${schema}.relay_delivery (destination, left(reason, 64)) WHERE state = 'dead';

  -- Records of ended deliveries: their number and size are sums, to which each statement adds rows of its own.
  CREATE TABLE ${schema}.relay_count (
    destination text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    bytes bigint NOT NULL
  );

  CREATE TABLE ${schema}.relay_seen (
    key uuid PRIMARY KEY,
    delivery bigint NOT NULL,
    until_ms bigint NOT NULL
  );
  CREATE INDEX relay_seen_until ON ${schema}.relay_seen (until_ms);

  CREATE TABLE ${schema}.relay_process (
    token bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    renewed_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  ${registryTables(schema)}
  ${seriesTable(schema)}
  ${logTable(schema)}
  ${recordingView(schema)}`;
}

/** Lock that a process holds while it migrates; others wait for it. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtext('nestjs-analytics-relay'), hashtext($1))`;

/** Creates the schema and its tables, unless they exist. After an error, the connection must be closed. */
export async function migrate(client: Client, schema: string): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(LOCK, [schema]);
    const version = await readVersion(client, schema);
    if (version === undefined) await create(client, schema);
    else checkVersion(version, schema);
    await client.query('COMMIT');
  } catch (cause) {
    if (cause instanceof QueueUnavailableError) throw cause;
    const fault = `postgresQueue: the migration of schema "${schema}" failed: ${errorMessage(cause)}`;
    throw new QueueUnavailableError(fault, { cause });
  }
}

/** Returns the SQL of {@link migrate} for a tool of the application, which runs it in one transaction. */
export function migrationSql(schema: string): string {
  const lines = `CREATE SCHEMA IF NOT EXISTS "${schema}";\n${tables(`"${schema}"`)}`.split('\n');
  return lines
    .map((line) => line.replace(/^ {2}/, ''))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

async function create(client: Client, schema: string): Promise<void> {
  const quoted = `"${schema}"`;
  // Even with IF NOT EXISTS, PostgreSQL requires the permission to create schemas.
  const { rows } = await client.query<{ name: string | null }>('SELECT to_regnamespace($1) AS name', [quoted]);
  if (rows[0]?.name == null) await client.query(`CREATE SCHEMA ${quoted}`);
  await client.query(tables(quoted));
}

/** @throws {QueueUnavailableError} when the tables are missing, or belong to another version */
export async function checkMigrations(client: Client, schema: string): Promise<void> {
  const version = await readVersion(client, schema);
  if (version !== undefined) return checkVersion(version, schema);
  throw new QueueUnavailableError(
    `postgresQueue: PostgreSQL holds no queue with the prefix "${schema}"; check prefix and URL. ` +
      'To create it, set migrate: true, or run migratePostgresQueue(options) once',
  );
}

function checkVersion(version: number, schema: string): void {
  if (version === LAYOUT) return;
  throw new QueueUnavailableError(
    `postgresQueue: the tables in schema "${schema}" have layout ${version}, from another version of this package; ` +
      `this one has layout ${LAYOUT}: install the other version, or use another prefix`,
  );
}

/** Returns the version of the layout; undefined if there are no tables. */
async function readVersion(client: Client, schema: string): Promise<number | undefined> {
  const table = `"${schema}".relay_layout`;
  const { rows: found } = await client.query<{ name: string | null }>('SELECT to_regclass($1) AS name', [table]);
  if (found[0]?.name == null) return undefined;
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${table}`);
  return rows[0]?.version ?? 0;
}
