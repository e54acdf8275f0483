import {
  type RegistryRecord,
  type RegistryStore,
  SESSION_TIME,
  TOMBSTONE_AGE,
} from '../../webhook-destination/queue/registry-store.interface.js';
import type { PostgresDatabase } from './postgres.database.js';
import type { PostgresSignals } from './postgres-signals.js';

/** The tables of the registry. Each change locks the row of the second one until it is committed. */
export const registryTables = (schema: string) => `
  CREATE TABLE ${schema}.relay_registry (
    kind text NOT NULL,
    name text NOT NULL,
    revision bigint NOT NULL,
    document text,
    PRIMARY KEY (kind, name)
  );
  CREATE UNIQUE INDEX relay_registry_revision ON ${schema}.relay_registry (revision);
  CREATE TABLE ${schema}.relay_registry_last (
    id boolean PRIMARY KEY DEFAULT true CHECK (id),
    revision bigint NOT NULL
  );
  INSERT INTO ${schema}.relay_registry_last (revision) VALUES (0);
`;

/** The registry in PostgreSQL. */
export class PostgresRegistryStore implements RegistryStore {
  readonly changed$ = this.signals.registry$;
  private readonly table = `${this.database.schema}.relay_registry`;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly signals: PostgresSignals,
  ) {}

  async read(after: number): Promise<RegistryRecord[]> {
    const rows = await this.database.query<RegistryRecord & { document: string | null }>(
      `SELECT kind, name, revision::float8 AS revision, document FROM ${this.table} WHERE revision > $1 ORDER BY revision`,
      [after],
    );
    return rows.map((row) => ({ ...row, document: row.document ?? undefined }));
  }

  /**
   * Changes wait for each other, so that no revision can be read before all earlier ones. Only ON CONFLICT sees what
   * was committed during the wait.
   */
  async write(record: Omit<RegistryRecord, 'revision'>, expected: number): Promise<number | undefined> {
    const { kind, name, document } = record;
    const [row] = await this.database.query<{ revision: number }>(
      `WITH next AS (
         UPDATE ${this.table}_last
         SET revision = greatest(revision + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
         RETURNING revision
       ), written AS (
         INSERT INTO ${this.table} AS present (kind, name, revision, document)
         SELECT $1, $2, revision, $3 FROM next
         WHERE $4::bigint = 0 OR EXISTS (
           SELECT 1 FROM ${this.table} WHERE (kind, name, revision) = ($1, $2, $4::bigint) AND document IS NOT NULL)
         ON CONFLICT (kind, name) DO UPDATE SET revision = excluded.revision, document = excluded.document
         WHERE CASE WHEN present.document IS NULL THEN 0 ELSE present.revision END = $4::bigint
         RETURNING revision
       )
       SELECT revision::float8 AS revision, pg_notify($5, $6) FROM written`,
      [kind, name, document, expected, ...this.signals.notification('registry', [])],
    );
    return row?.revision;
  }

  /** Forgets records that were removed at least {@link TOMBSTONE_AGE} ago; sessions, {@link SESSION_TIME}. */
  async sweep(now: number): Promise<void> {
    await this.database.query(
      `DELETE FROM ${this.table} WHERE document IS NULL
         AND revision <= CASE kind WHEN 'session' THEN $1::bigint ELSE $2::bigint END`,
      [now - SESSION_TIME, now - TOMBSTONE_AGE],
    );
  }
}
