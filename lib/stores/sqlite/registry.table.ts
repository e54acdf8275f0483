import type { SqliteConnection } from './sqlite.connection.js';

import {
  nextRevision,
  type RegistryRecord,
  SESSION_TIME,
  TOMBSTONE_AGE,
} from '../../webhook-destination/queue/registry-store.interface.js';

/** A record; the document of a removed one is null. */
interface Row extends Omit<RegistryRecord, 'document'> {
  document: string | null;
}

/** Sources and destinations that change while the application runs. */
export class RegistryTable {
  private readonly statements = {
    read: this.db.prepare('SELECT kind, name, revision, document FROM registry WHERE revision > ? ORDER BY revision'),
    current: this.db.prepare('SELECT revision FROM registry WHERE kind = ? AND name = ? AND document IS NOT NULL'),
    last: this.db.prepare('SELECT coalesce(max(revision), 0) AS revision FROM registry'),
    put: this.db.prepare('REPLACE INTO registry (revision, kind, name, document) VALUES (?, ?, ?, ?)'),
    sweep: this.db.prepare(
      "DELETE FROM registry WHERE document IS NULL AND revision <= CASE kind WHEN 'session' THEN ? ELSE ? END",
    ),
  };

  constructor(private readonly db: SqliteConnection) {}

  read(after: number): RegistryRecord[] {
    const rows = this.statements.read.all(after) as Row[];
    return rows.map((row) => ({ ...row, document: row.document ?? undefined }));
  }

  /** Writes a record; returns undefined, writing nothing, if its revision is not `expected`. */
  write({ kind, name, document }: Omit<RegistryRecord, 'revision'>, expected: number): number | undefined {
    const { current, last, put } = this.statements;
    const { revision: present } = (current.get(kind, name) as Row | undefined) ?? { revision: 0 };
    if (present !== expected) return undefined;
    const revision = nextRevision((last.get() as Row).revision);
    put.run(revision, kind, name, document ?? null);
    return revision;
  }

  /** Forgets records that were removed at least {@link TOMBSTONE_AGE} ago; sessions, {@link SESSION_TIME}. */
  sweep(now: number): void {
    this.statements.sweep.run(now - SESSION_TIME, now - TOMBSTONE_AGE);
  }
}
