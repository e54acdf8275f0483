import {
  idsFrom,
  type RefusalRecord,
  type RefusalStore,
} from '../../webhook-destination/queue/refusal-store.interface.js';
import { decodeText, encodeText } from './delivery.codec.js';
import type { PostgresDatabase } from './postgres.database.js';

/** The table of refused messages. */
export const refusalTable = (schema: string) => `
  CREATE TABLE ${schema}.relay_refusal (
    id text COLLATE "C" PRIMARY KEY,
    source text COLLATE "C" NOT NULL,
    head text NOT NULL,
    text text NOT NULL
  );
  CREATE INDEX relay_refusal_source ON ${schema}.relay_refusal (source, id);
`;

/** Messages that ingest has refused, in PostgreSQL. */
export class PostgresRefusalStore implements RefusalStore {
  private readonly table = `${this.database.schema}.relay_refusal`;

  constructor(private readonly database: PostgresDatabase) {}

  async keep(records: RefusalRecord[], count: number): Promise<boolean> {
    await this.database.query(
      `INSERT INTO ${this.table} (id, source, head, text)
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) ON CONFLICT (id) DO NOTHING`,
      [
        records.map(({ id }) => id),
        records.map(({ source }) => encodeText(source)),
        records.map(({ head }) => head),
        records.map(({ text }) => text),
      ],
    );
    // Rows that another process is removing are skipped.
    await this.database.query(
      `WITH place AS MATERIALIZED (
         SELECT k.source, (
           SELECT id FROM ${this.table} r WHERE r.source = k.source ORDER BY id DESC OFFSET $2::bigint LIMIT 1) AS id
         FROM unnest($1::text[]) AS k (source)),
       past AS MATERIALIZED (
         SELECT r.id FROM ${this.table} r JOIN place p ON r.source = p.source AND r.id <= p.id
         FOR UPDATE OF r SKIP LOCKED)
       DELETE FROM ${this.table} r USING past WHERE r.id = past.id`,
      [[...new Set(records.map(({ source }) => encodeText(source)))], count],
    );
    return true;
  }

  async sources(): Promise<string[]> {
    // Finds each source with an index look-up.
    const rows = await this.database.query<{ source: string }>(
      `WITH RECURSIVE found AS (
         (SELECT source FROM ${this.table} ORDER BY source LIMIT 1)
         UNION ALL
         SELECT (SELECT r.source FROM ${this.table} r WHERE r.source > found.source ORDER BY r.source LIMIT 1)
         FROM found WHERE found.source IS NOT NULL)
       SELECT source FROM found WHERE source IS NOT NULL`,
    );
    return rows.map(({ source }) => decodeText(source));
  }

  async list(source: string, after: string | undefined, limit: number): Promise<Omit<RefusalRecord, 'text'>[]> {
    const rows = await this.database.query<{ id: string; head: string }>(
      `SELECT id, head FROM ${this.table}
       WHERE source = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3::bigint`,
      [encodeText(source), after ?? null, limit],
    );
    return rows.map((row) => ({ ...row, source }));
  }

  async read(source: string, ids: string[]): Promise<RefusalRecord[]> {
    const rows = await this.database.query<Omit<RefusalRecord, 'source'>>(
      `SELECT id, head, text FROM ${this.table} WHERE source = $1 AND id = ANY($2::text[]) ORDER BY id DESC`,
      [encodeText(source), ids],
    );
    return rows.map((row) => ({ ...row, source }));
  }

  async update(source: string, heads: Pick<RefusalRecord, 'id' | 'head'>[]): Promise<void> {
    await this.database.query(
      `UPDATE ${this.table} r SET head = new.head FROM unnest($2::text[], $3::text[]) AS new (id, head)
       WHERE r.source = $1 AND r.id = new.id`,
      [encodeText(source), heads.map(({ id }) => id), heads.map(({ head }) => head)],
    );
  }

  async remove(source: string, ids: string[]): Promise<number> {
    const rows = await this.database.query(
      `DELETE FROM ${this.table} WHERE source = $1 AND id = ANY($2::text[]) RETURNING 1`,
      [encodeText(source), ids],
    );
    return rows.length;
  }

  async removeOld(before: number, most: number): Promise<number> {
    const rows = await this.database.query(
      `WITH past AS MATERIALIZED (
         SELECT id FROM ${this.table} WHERE id < $1 ORDER BY id LIMIT $2::bigint FOR UPDATE SKIP LOCKED)
       DELETE FROM ${this.table} r USING past WHERE r.id = past.id RETURNING 1`,
      [idsFrom(before), most],
    );
    return rows.length;
  }
}
