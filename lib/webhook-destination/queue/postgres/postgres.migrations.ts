import type { Client } from 'pg';

import { errorMessage } from '../../../common/error.util.js';
import { QueueUnavailableError } from '../../../common/relay.errors.js';
import { REGISTRY_TABLES } from './postgres-registry.store.js';

/** Tables beside those of BullMQ: the destinations, and the messages that may not come again yet. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS relay_destination (name text PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS relay_seen (
    queue text NOT NULL,
    id text NOT NULL,
    until_ms bigint NOT NULL,
    PRIMARY KEY (queue, id)
  );
  CREATE INDEX IF NOT EXISTS relay_seen_until ON relay_seen (until_ms);
`;

/**
 * BullMQ clears the marks of its last look for stalled jobs every few seconds, and has no index to find them by: without
 * this one it reads the whole backlog each time. Its existence is checked first, as creating it waits for all writers.
 */
const STALLED_INDEX = `
  DO $$ BEGIN
    IF to_regclass('relay_job_stalled') IS NULL THEN
      CREATE INDEX relay_job_stalled ON job (queue) WHERE stalled_marked;
    END IF;
  END $$;
`;

/** Makes the schema and its tables, or brings them up to date; one process at a time does so, the others wait for it. After an error, the connection must end. */
export async function migrate(bullmq: typeof import('bullmq'), client: Client, schema: string): Promise<void> {
  try {
    await bullmq.runMigrations(client, schema);
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [bullmq.MIGRATION_ADVISORY_LOCK_KEY, schema]);
    await client.query(`SET LOCAL search_path TO ${bullmq.quoteSchemaName(schema)}`);
    await client.query(TABLES);
    await client.query(REGISTRY_TABLES);
    await client.query(STALLED_INDEX);
    await client.query('COMMIT');
  } catch (cause) {
    const fault = `bullmqQueue: the migration of schema "${schema}" failed: ${errorMessage(cause)}`;
    throw new QueueUnavailableError(fault, { cause });
  }
}

/** @throws {QueueUnavailableError} when the tables are not there, or not those of this version of BullMQ */
export async function checkMigrations(bullmq: typeof import('bullmq'), client: Client, schema: string): Promise<void> {
  await bullmq.assertSchemaCompatibility(client, schema).catch((error: Error) => {
    throw error instanceof bullmq.SchemaMigrationRequiredError ? missing(schema) : error;
  });
  const { rows } = await client.query<{ found: string | null }>('SELECT to_regclass($1) AS found', [
    `${bullmq.quoteSchemaName(schema)}.relay_registry_last`,
  ]);
  if (rows[0]?.found == null) throw missing(schema);
}

function missing(schema: string): Error {
  return new QueueUnavailableError(
    `bullmqQueue: schema "${schema}" has no tables yet, or those of an older version: set migrate: true, or run migrateBullmqQueue(options) once`,
  );
}
