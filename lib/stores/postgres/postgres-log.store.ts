import {
  type KeptLog,
  type LogRecord,
  type LogStore,
  timeOfLogId,
  toIdStart,
} from '../../webhook-destination/queue/log-store.interface.js';
import { encodeText } from './delivery.codec.js';
import type { PostgresDatabase } from './postgres.database.js';

/** Records that one statement removes. */
const PORTION = 1_000;

/** The table of the logs. */
export const logTable = (schema: string) => `
  CREATE TABLE ${schema}.relay_log (
    log text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    until_ms bigint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (log, id)
  );
  CREATE INDEX relay_log_until ON ${schema}.relay_log (until_ms);
`;

/** Logs in PostgreSQL. */
export class PostgresLogStore implements LogStore {
  private readonly table = `${this.database.schema}.relay_log`;

  constructor(private readonly database: PostgresDatabase) {}

  async write({ name, age, count }: KeptLog, records: LogRecord[]): Promise<void> {
    const log = encodeText(name);
    await this.database.query(
      `INSERT INTO ${this.table} (log, id, until_ms, text)
       SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::text[])
       ON CONFLICT (log, id) DO UPDATE SET text = excluded.text`,
      [
        log,
        records.map(({ id }) => id),
        records.map(({ id }) => timeOfLogId(id) + age),
        records.map(({ text }) => text),
      ],
    );
    const surplus = `log = $1 AND id <= (SELECT id FROM ${this.table} WHERE log = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)`;
    await this.remove(surplus, [log, count]);
  }

  async read({ name, age }: KeptLog, limit: number, before = '~'): Promise<LogRecord[]> {
    return this.database.query<LogRecord>(
      `SELECT id, text FROM ${this.table} WHERE log = $1 AND id < $2 AND id >= $3 ORDER BY id DESC LIMIT $4`,
      [encodeText(name), before, toIdStart(Date.now() - age), limit],
    );
  }

  /** Removes records past the age of their log, a portion at a time. */
  sweep(now: number): Promise<void> {
    return this.remove('until_ms <= $1::bigint', [now]);
  }

  /** Removes a portion of the records that match. Those that another process is removing are skipped. */
  private async remove(which: string, values: unknown[]): Promise<void> {
    await this.database.query(
      `WITH past AS MATERIALIZED (SELECT log, id FROM ${this.table} WHERE ${which} LIMIT ${PORTION} FOR UPDATE SKIP LOCKED)
       DELETE FROM ${this.table} l USING past WHERE (l.log, l.id) = (past.log, past.id)`,
      values,
    );
  }
}
