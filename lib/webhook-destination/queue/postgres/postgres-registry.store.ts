import type { Client } from 'pg';

import { type RegistryRecord, TOMBSTONE_AGE } from '../registry-store.interface.js';
import type { SharedRegistryStore } from '../shared/shared-queue.interface.js';
import { type SignalConnection, SignalListener } from '../shared/signal-listener.js';

/** A channel belongs to the whole database, so each notification carries the name of its schema. */
const CHANNEL = 'relay_registry';

/** The tables of the registry; the row of the second one is locked by each change until it is committed. */
export const REGISTRY_TABLES = `
  CREATE TABLE IF NOT EXISTS relay_registry (
    kind text NOT NULL,
    name text NOT NULL,
    revision bigint NOT NULL,
    document text,
    PRIMARY KEY (kind, name)
  );
  CREATE UNIQUE INDEX IF NOT EXISTS relay_registry_revision ON relay_registry (revision);
  CREATE TABLE IF NOT EXISTS relay_registry_last (
    id boolean PRIMARY KEY DEFAULT true CHECK (id),
    revision bigint NOT NULL
  );
  INSERT INTO relay_registry_last (revision) VALUES (0) ON CONFLICT DO NOTHING;
`;

const READ = `
  SELECT kind, name, revision::float8 AS revision, document FROM relay_registry WHERE revision > $1 ORDER BY revision`;

/**
 * Changes wait for each other, so that a revision can be read once all before it can. What has been committed while one
 * waits is seen by ON CONFLICT alone.
 */
const WRITE = `
  WITH next AS (
    UPDATE relay_registry_last
    SET revision = greatest(revision + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    RETURNING revision
  ), written AS (
    INSERT INTO relay_registry AS present (kind, name, revision, document)
    SELECT $1, $2, revision, $3 FROM next
    WHERE $4::bigint = 0 OR EXISTS (
      SELECT 1 FROM relay_registry WHERE (kind, name, revision) = ($1, $2, $4::bigint) AND document IS NOT NULL)
    ON CONFLICT (kind, name) DO UPDATE SET revision = excluded.revision, document = excluded.document
    WHERE CASE WHEN present.document IS NULL THEN 0 ELSE present.revision END = $4::bigint
    RETURNING revision
  )
  SELECT revision::float8 AS revision, pg_notify('${CHANNEL}', current_schema()) FROM written`;

type Query = <Row>(text: string, values: unknown[]) => Promise<Row[]>;

/** The registry in PostgreSQL. */
export class PostgresRegistryStore implements SharedRegistryStore {
  private readonly listener = new SignalListener((onSignal, onEnd) => this.subscribe(onSignal, onEnd));
  readonly changed$ = this.listener.signals$;

  /** @param createClient makes a connection, while the store is open */
  constructor(
    private readonly schema: string,
    private readonly query: Query,
    private readonly createClient: () => Client,
  ) {}

  async read(after: number): Promise<RegistryRecord[]> {
    const rows = await this.query<RegistryRecord & { document: string | null }>(READ, [after]);
    return rows.map((row) => ({ ...row, document: row.document ?? undefined }));
  }

  async write(record: Omit<RegistryRecord, 'revision'>, expected: number): Promise<number | undefined> {
    const { kind, name, document } = record;
    const [row] = await this.query<{ revision: number }>(WRITE, [kind, name, document, expected]);
    return row?.revision;
  }

  async sweep(now: number): Promise<void> {
    await this.query('DELETE FROM relay_registry WHERE document IS NULL AND revision <= $1', [now - TOMBSTONE_AGE]);
  }

  close(): void {
    this.listener.close();
  }

  private subscribe(onSignal: () => void, onEnd: () => void): SignalConnection {
    const client = this.createClient();
    client.on('error', onEnd).on('end', onEnd);
    client.on('notification', ({ payload }) => {
      if (payload === this.schema) onSignal();
    });
    return {
      listen: () => client.connect().then(() => client.query(`LISTEN ${CHANNEL}`)),
      check: () => client.query('SELECT'),
      close: () => void client.end().catch(() => undefined),
    };
  }
}
