import type Database from 'libsql';

import { BATCH_SLOTS, batchOf } from './batch.codec.js';

/** Cuts the ids of both tables into slices, newest first: each begins at the same batch in both. */
export class IdSlicer {
  private readonly batchBound;
  private readonly rowBound;

  /** Limits a slice to a number of batches, and of rows in the table `delivery`. */
  constructor(db: Database.Database, batches: number, rows: number) {
    const bound = (table: string, count: number) =>
      db.prepare(`SELECT id FROM ${table} WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ${count - 1}`);
    this.batchBound = bound('batch', batches);
    this.rowBound = bound('delivery', rows);
  }

  /** Returns the first id of the slice below `before`. */
  startOf(before: number): number {
    const batch = this.batchBound.get(Math.ceil(before / BATCH_SLOTS)) as { id: number } | undefined;
    const row = this.rowBound.get(before) as { id: number } | undefined;
    return Math.max(batch?.id ?? 0, batchOf(row?.id ?? 0)) * BATCH_SLOTS;
  }
}
