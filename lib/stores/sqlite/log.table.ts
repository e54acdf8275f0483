import type { SqliteConnection } from './sqlite.connection.js';

import {
  type KeptLog,
  type LogRecord,
  timeOfLogId,
  toIdStart,
} from '../../webhook-destination/queue/log-store.interface.js';

/** Records that one sweep removes: other calls of the thread wait meanwhile. */
const SWEPT = 500;

/** The table of the logs. Its primary key is an index of its own, so that counting reads no texts. */
export const LOG_TABLE = `
  CREATE TABLE log (
    log TEXT NOT NULL,
    id TEXT NOT NULL,
    until INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (log, id)
  ) STRICT;
  CREATE INDEX log_until ON log (until);`;

/** Logs beside the deliveries. */
export class LogTable {
  private readonly statements = {
    put: this.db.prepare(
      `INSERT INTO log (log, id, until, text) VALUES (?, ?, ?, ?) ON CONFLICT (log, id) DO UPDATE SET text = excluded.text`,
    ),
    trim: this.db.prepare(
      `DELETE FROM log WHERE log = :log
         AND id <= (SELECT id FROM log WHERE log = :log ORDER BY id DESC LIMIT 1 OFFSET :count)`,
    ),
    read: this.db.prepare('SELECT id, text FROM log WHERE log = ? AND id < ? AND id >= ? ORDER BY id DESC LIMIT ?'),
    sweep: this.db.prepare(
      `DELETE FROM log WHERE rowid IN (SELECT rowid FROM log WHERE until <= ? ORDER BY until LIMIT ${SWEPT})`,
    ),
  };

  constructor(private readonly db: SqliteConnection) {}

  write({ name, age, count }: KeptLog, records: LogRecord[]): void {
    for (const { id, text } of records) this.statements.put.run(name, id, timeOfLogId(id) + age, text);
    this.statements.trim.run({ log: name, count });
  }

  read({ name, age }: KeptLog, limit: number, before = '~'): LogRecord[] {
    return this.statements.read.all(name, before, toIdStart(Date.now() - age), limit) as LogRecord[];
  }

  /** Removes records past the age of their log, as many as a call may. */
  sweep(now: number): void {
    this.statements.sweep.run(now);
  }
}
