import {
  type KeptLog,
  type LogRecord,
  type LogStore,
  timeOfLogId,
  toIdStart,
  type WholeLogRecord,
} from '../../webhook-destination/queue/log-store.interface.js';
import { decodeText, encodeText } from './delivery.codec.js';
import type { PostgresDatabase } from './postgres.database.js';

/** Surplus records that one write removes. */
const SURPLUS = 1_000;

/** The table of the logs. */
export const logTable = (schema: string) => `
  CREATE TABLE ${schema}.relay_log (
    log text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    until_ms bigint NOT NULL,
    text text NOT NULL,
    attachment text,
    PRIMARY KEY (log, id)
  );
  CREATE INDEX relay_log_until ON ${schema}.relay_log (until_ms);
`;

/** Logs in PostgreSQL. */
export class PostgresLogStore implements LogStore {
  private readonly table = `${this.database.schema}.relay_log`;

  constructor(private readonly database: PostgresDatabase) {}

  async write({ name, age, count }: KeptLog, records: WholeLogRecord[]): Promise<boolean> {
    const log = encodeText(name);
    await this.database.query(
      `INSERT INTO ${this.table} (log, id, until_ms, text, attachment)
       SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[])
       ON CONFLICT (log, id) DO UPDATE SET text = excluded.text, attachment = excluded.attachment`,
      [
        log,
        records.map(({ id }) => id),
        records.map(({ id }) => timeOfLogId(id) + age),
        records.map(({ text }) => text),
        records.map(({ attachment }) => attachment ?? null),
      ],
    );
    const place = `SELECT id FROM ${this.table} WHERE log = $2 ORDER BY id DESC OFFSET $3::bigint LIMIT 1`;
    await this.removeWhere(`log = $2 AND id <= (${place})`, SURPLUS, [log, count]);
    return true;
  }

  async update({ name }: KeptLog, records: LogRecord[]): Promise<void> {
    await this.database.query(
      `UPDATE ${this.table} l SET text = new.text FROM unnest($2::text[], $3::text[]) AS new (id, text)
       WHERE l.log = $1 AND l.id = new.id`,
      [encodeText(name), records.map(({ id }) => id), records.map(({ text }) => text)],
    );
  }

  read({ name, age }: KeptLog, limit: number, before = '~'): Promise<LogRecord[]> {
    return this.database.query<LogRecord>(
      `SELECT id, text FROM ${this.table} WHERE log = $1 AND id < $2 AND id >= $3 ORDER BY id DESC LIMIT $4`,
      [encodeText(name), before, toIdStart(Date.now() - age), limit],
    );
  }

  async find({ name, age }: KeptLog, ids: string[]): Promise<WholeLogRecord[]> {
    const rows = await this.database.query<LogRecord & { attachment: string | null }>(
      `SELECT id, text, attachment FROM ${this.table}
       WHERE log = $1 AND id = ANY($2::text[]) AND id >= $3 ORDER BY id DESC`,
      [encodeText(name), ids, toIdStart(Date.now() - age)],
    );
    return rows.map((row) => ({ ...row, attachment: row.attachment ?? undefined }));
  }

  async remove({ name }: KeptLog, ids: string[]): Promise<number> {
    const rows = await this.database.query(
      `DELETE FROM ${this.table} WHERE log = $1 AND id = ANY($2::text[]) RETURNING 1`,
      [encodeText(name), ids],
    );
    return rows.length;
  }

  async names(start: string): Promise<string[]> {
    // Finds each log with an index look-up.
    const rows = await this.database.query<{ name: string }>(
      `WITH RECURSIVE found (name) AS (
         (SELECT log FROM ${this.table} WHERE log >= $1 ORDER BY log LIMIT 1)
         UNION ALL
         SELECT (SELECT l.log FROM ${this.table} l WHERE l.log > found.name ORDER BY l.log LIMIT 1)
         FROM found WHERE starts_with(found.name, $1))
       SELECT name FROM found WHERE starts_with(name, $1)`,
      [encodeText(start)],
    );
    return rows.map(({ name }) => decodeText(name));
  }

  removeOld(now: number, most: number): Promise<number> {
    return this.removeWhere('until_ms <= $2::bigint', most, [now]);
  }

  /** Removes at most so many records that match. Those that another process is removing are skipped. */
  private async removeWhere(condition: string, most: number, values: unknown[]): Promise<number> {
    const rows = await this.database.query(
      `WITH past AS MATERIALIZED (
         SELECT log, id FROM ${this.table} WHERE ${condition} ORDER BY id LIMIT $1::bigint FOR UPDATE SKIP LOCKED)
       DELETE FROM ${this.table} l USING past WHERE (l.log, l.id) = (past.log, past.id) RETURNING 1`,
      [most, ...values],
    );
    return rows.length;
  }
}
