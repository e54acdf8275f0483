import type { SeriesRecord, SeriesStore } from '../../webhook-destination/queue/series-store.interface.js';
import { decodeText, encodeText } from './delivery.codec.js';
import type { PostgresDatabase } from './postgres.database.js';

/** The table of per-minute figures. */
export const seriesTable = (schema: string) => `
  CREATE TABLE ${schema}.relay_series (
    series text COLLATE "C" NOT NULL,
    minute bigint NOT NULL,
    writer text COLLATE "C" NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (series, minute, writer)
  );
  CREATE INDEX relay_series_minute ON ${schema}.relay_series (minute);
`;

/** Per-minute figures in PostgreSQL. */
export class PostgresSeriesStore implements SeriesStore {
  private readonly table = `${this.database.schema}.relay_series`;

  constructor(private readonly database: PostgresDatabase) {}

  async write(records: SeriesRecord[], oldest: number): Promise<void> {
    await this.database.query(
      `INSERT INTO ${this.table} (series, minute, writer, text)
       SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
       ON CONFLICT (series, minute, writer) DO UPDATE SET text = excluded.text`,
      [
        records.map(({ series }) => encodeText(series)),
        records.map(({ minute }) => minute),
        records.map(({ writer }) => writer),
        records.map(({ text }) => text),
      ],
    );
    // Rows that another process is removing are skipped.
    await this.database.query(
      `WITH past AS MATERIALIZED (
         SELECT series, minute, writer FROM ${this.table} WHERE minute < $1::bigint FOR UPDATE SKIP LOCKED)
       DELETE FROM ${this.table} s USING past
       WHERE (s.series, s.minute, s.writer) = (past.series, past.minute, past.writer)`,
      [oldest],
    );
  }

  async read(series: string, from: number, to: number): Promise<SeriesRecord[]> {
    const rows = await this.database.query<SeriesRecord>(
      `SELECT series, minute::float8 AS minute, writer, text FROM ${this.table}
       WHERE series = $1 AND minute BETWEEN $2::bigint AND $3::bigint`,
      [encodeText(series), Math.ceil(from), Math.floor(to)],
    );
    return rows.map((row) => ({ ...row, series: decodeText(row.series) }));
  }
}
