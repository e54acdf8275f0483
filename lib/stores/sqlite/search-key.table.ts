import { BATCH_SLOTS } from './batch.codec.js';
import type { SqliteConnection } from './sqlite.connection.js';

/** A key of a new delivery, which is named by its position in the batch. */
export type PositionedKey = [position: number, key: number];

/** Keys of values that deliveries are searched by. Without the option `search.fields`, no statement runs. */
export class SearchKeyTable {
  private readonly statements = {
    insert: this.db.prepare('INSERT OR IGNORE INTO search_key (delivery, key) VALUES (?, ?)'),
    find: this.db.prepare(
      'SELECT delivery FROM search_key WHERE key = ? AND delivery < ? ORDER BY delivery DESC LIMIT ?',
    ),
    remove: this.db.prepare('DELETE FROM search_key WHERE delivery >= ? AND delivery < ?'),
  };
  /** Whether the table may have rows. */
  private isUsed: boolean;

  constructor(private readonly db: SqliteConnection) {
    this.isUsed = db.prepare('SELECT 1 FROM search_key LIMIT 1').get() !== undefined;
  }

  insert(batch: number, keys: PositionedKey[]): void {
    if (keys.length > 0) this.isUsed = true;
    for (const [position, key] of keys) this.statements.insert.run(batch * BATCH_SLOTS + position, key);
  }

  /** Returns the ids of deliveries with a key below an id, the newest first. */
  find(key: number, before: number, limit: number): number[] {
    return (this.statements.find.all(key, before, limit) as { delivery: number }[]).map(({ delivery }) => delivery);
  }

  /** Removes the keys of deliveries in a range of ids. */
  remove(from: number, to: number): void {
    if (this.isUsed) this.statements.remove.run(from, to);
  }
}
