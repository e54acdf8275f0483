import {
  type KeptLog,
  type LogRecord,
  timeOfLogId,
  toIdStart,
  type WholeLogRecord,
} from '../../webhook-destination/queue/log-store.interface.js';
import type { SqliteConnection } from './sqlite.connection.js';
import type { SqliteFile } from './sqlite-file.js';

/**
 * The table of the logs. Its primary key is an index of its own, so that counting reads no texts. The attachment is last,
 * so that reading a page of records does not read it.
 */
export const LOG_TABLE = `
  CREATE TABLE log (
    log TEXT NOT NULL,
    id TEXT NOT NULL,
    until INTEGER NOT NULL,
    text TEXT NOT NULL,
    attachment TEXT,
    PRIMARY KEY (log, id)
  ) STRICT;
  CREATE INDEX log_until ON log (until);`;

/** Logs beside the deliveries. */
export class LogTable {
  private readonly statements;

  constructor(
    db: SqliteConnection,
    private readonly file: Pick<SqliteFile, 'isFull'>,
  ) {
    this.statements = {
      put: db.prepare(
        `INSERT INTO log (log, id, until, text, attachment) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (log, id) DO UPDATE SET text = excluded.text, attachment = excluded.attachment`,
      ),
      trim: db.prepare(
        `DELETE FROM log WHERE log = :log
           AND id <= (SELECT id FROM log WHERE log = :log ORDER BY id DESC LIMIT 1 OFFSET :count)`,
      ),
      update: db.prepare('UPDATE log SET text = ? WHERE log = ? AND id = ?'),
      read: db.prepare('SELECT id, text FROM log WHERE log = ? AND id < ? AND id >= ? ORDER BY id DESC LIMIT ?'),
      find: db.prepare('SELECT id, text, attachment FROM log WHERE log = ? AND id = ? AND id >= ?'),
      remove: db.prepare('DELETE FROM log WHERE log = ? AND id = ? RETURNING id'),
      // Finds each log with an index look-up.
      names: db.prepare(
        `WITH RECURSIVE found (name) AS (
           SELECT min(log) FROM log WHERE log >= :start
           UNION ALL
           SELECT (SELECT min(log) FROM log WHERE log > found.name) FROM found
           WHERE substr(name, 1, length(:start)) = :start)
         SELECT name FROM found WHERE substr(name, 1, length(:start)) = :start`,
      ),
      removeOld: db.prepare(
        'DELETE FROM log WHERE rowid IN (SELECT rowid FROM log WHERE until <= ? ORDER BY until LIMIT ?) RETURNING id',
      ),
    };
  }

  write({ name, age, count }: KeptLog, records: WholeLogRecord[]): boolean {
    if (this.file.isFull && records.some(({ attachment }) => attachment !== undefined)) return false;
    const { put, trim } = this.statements;
    for (const { id, text, attachment = null } of records) put.run(name, id, timeOfLogId(id) + age, text, attachment);
    trim.run({ log: name, count });
    return true;
  }

  update({ name }: KeptLog, records: LogRecord[]): void {
    for (const { id, text } of records) this.statements.update.run(text, name, id);
  }

  read({ name, age }: KeptLog, limit: number, before = '~'): LogRecord[] {
    return this.statements.read.all(name, before, toIdStart(Date.now() - age), limit) as LogRecord[];
  }

  find({ name, age }: KeptLog, ids: string[]): WholeLogRecord[] {
    const oldest = toIdStart(Date.now() - age);
    const rows = [...ids]
      .sort()
      .reverse()
      .flatMap((id) => this.statements.find.all(name, id, oldest));
    return (rows as (LogRecord & { attachment: string | null })[]).map(({ attachment, ...record }) => ({
      ...record,
      attachment: attachment ?? undefined,
    }));
  }

  remove({ name }: KeptLog, ids: string[]): number {
    return ids.filter((id) => this.statements.remove.all(name, id).length > 0).length;
  }

  names(start: string): string[] {
    return (this.statements.names.all({ start }) as { name: string }[]).map(({ name }) => name);
  }

  removeOld(now: number, most: number): number {
    return this.statements.removeOld.all(now, most).length;
  }
}
