import type Database from 'libsql';

import type { SeriesRecord } from '../series-store.interface.js';

/** Per-minute figures. */
export class SeriesTable {
  private readonly statements = {
    put: this.db.prepare('REPLACE INTO series (series, minute, writer, text) VALUES (?, ?, ?, ?)'),
    prune: this.db.prepare('DELETE FROM series WHERE minute < ?'),
    read: this.db.prepare(
      'SELECT series, minute, writer, text FROM series WHERE series = ? AND minute BETWEEN ? AND ?',
    ),
  };

  constructor(private readonly db: Database.Database) {}

  write(records: SeriesRecord[], oldest: number): void {
    for (const { series, minute, writer, text } of records) this.statements.put.run(series, minute, writer, text);
    this.statements.prune.run(oldest);
  }

  read(series: string, from: number, to: number): SeriesRecord[] {
    return this.statements.read.all(series, from, to) as SeriesRecord[];
  }
}
