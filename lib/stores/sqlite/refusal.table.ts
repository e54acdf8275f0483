import { idsFrom, type RefusalRecord } from '../../webhook-destination/queue/refusal-store.interface.js';
import type { SqliteConnection } from './sqlite.connection.js';
import type { SqliteFile } from './sqlite-file.js';

/** The table of refused messages. The text is last, so that a list does not read it. */
export const REFUSAL_TABLE = `
  CREATE TABLE refusal (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    head TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX refusal_source ON refusal (source, id);
`;

/** Messages that ingest has refused. */
export class RefusalTable {
  private readonly statements;

  constructor(
    db: SqliteConnection,
    private readonly file: Pick<SqliteFile, 'isFull'>,
  ) {
    this.statements = {
      put: db.prepare('INSERT OR IGNORE INTO refusal (id, source, head, text) VALUES (?, ?, ?, ?)'),
      trim: db.prepare(
        `DELETE FROM refusal WHERE source = :source AND id <=
           (SELECT id FROM refusal WHERE source = :source ORDER BY id DESC LIMIT 1 OFFSET :count)`,
      ),
      // Finds each source with an index look-up.
      sources: db.prepare(
        `WITH RECURSIVE found (source) AS (
           SELECT min(source) FROM refusal
           UNION ALL
           SELECT (SELECT min(source) FROM refusal AS r WHERE r.source > found.source) FROM found WHERE source IS NOT NULL)
         SELECT source FROM found WHERE source IS NOT NULL`,
      ),
      list: db.prepare('SELECT id, source, head FROM refusal WHERE source = ? AND id < ? ORDER BY id DESC LIMIT ?'),
      read: db.prepare('SELECT id, source, head, text FROM refusal WHERE source = ? AND id = ?'),
      update: db.prepare('UPDATE refusal SET head = ? WHERE source = ? AND id = ?'),
      remove: db.prepare('DELETE FROM refusal WHERE source = ? AND id = ? RETURNING id'),
      removeOld: db.prepare(
        'DELETE FROM refusal WHERE id IN (SELECT id FROM refusal WHERE id < ? ORDER BY id LIMIT ?) RETURNING id',
      ),
    };
  }

  /** Returns whether the records are stored: a file that has reached `maxBytes` takes none. */
  keep(records: RefusalRecord[], count: number): boolean {
    if (this.file.isFull) return false;
    const { put, trim } = this.statements;
    for (const { id, source, head, text } of records) put.run(id, source, head, text);
    for (const source of new Set(records.map((record) => record.source))) trim.run({ source, count });
    return true;
  }

  sources(): string[] {
    return (this.statements.sources.all() as { source: string }[]).map(({ source }) => source);
  }

  list(source: string, after: string | undefined, limit: number): Omit<RefusalRecord, 'text'>[] {
    return this.statements.list.all(source, after ?? '~', limit) as Omit<RefusalRecord, 'text'>[];
  }

  read(source: string, ids: string[]): RefusalRecord[] {
    const newestFirst = [...ids].sort().reverse();
    return newestFirst.flatMap((id) => this.statements.read.all(source, id) as RefusalRecord[]);
  }

  update(source: string, heads: Pick<RefusalRecord, 'id' | 'head'>[]): void {
    for (const { id, head } of heads) this.statements.update.run(head, source, id);
  }

  remove(source: string, ids: string[]): number {
    return ids.filter((id) => this.statements.remove.all(source, id).length > 0).length;
  }

  removeOld(before: number, most: number): number {
    return this.statements.removeOld.all(idsFrom(before), most).length;
  }
}
