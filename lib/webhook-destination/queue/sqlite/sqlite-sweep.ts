import type Database from 'libsql';

import type { Retention } from '../retention.options.js';
import type { AcceptedTable } from './accepted.table.js';
import { BATCH_SLOTS, batchOf, toPositions } from './batch.codec.js';
import { toRows } from './batch.reader.js';
import type { BatchTable } from './batch.table.js';

/** Records that one call removes, give or take a batch. */
const SLICE = 500;

/** Batches that one call takes bodies out of, at most: each is written anew. */
const MAX_STRIPPED = 32;

/** A delivery that ended, in a row of its own, or those of a batch that were delivered without one. */
interface Ended {
  /** That of the first delivery that a batch can hold, where it is a batch. */
  id: number;
  count: number;
  /** Deliveries of the batch with rows of their own; null where this is one. */
  gone: number | null;
}

/** Removes the records of ended deliveries that are past their retention. */
export class SqliteSweep {
  private readonly statements;

  constructor(
    db: Database.Database,
    private readonly batches: BatchTable,
    private readonly accepted: AcceptedTable,
  ) {
    // What died has a row of its own.
    const ended = (condition: string, order: (key: string) => string = () => '') =>
      `SELECT * FROM (
         SELECT id, 1 AS count, NULL AS gone FROM delivery
         WHERE state = ?1 AND ended_at IS NOT NULL AND ${condition} ${order('id')})
       UNION ALL
       SELECT * FROM (
         SELECT batch * ${BATCH_SLOTS} AS id, delivered, gone FROM outcome
         WHERE ?1 = 'delivered' AND open = 0 AND delivered > 0 AND ${condition} ${order('batch')})`;
    const oldest = (key: string) => `ORDER BY ${key} LIMIT ${SLICE}`;
    this.statements = {
      old: db.prepare(`${ended('ended_at <= ?2')} LIMIT ${SLICE}`),
      first: db.prepare(`${ended('true', oldest)} ${oldest('id')}`),
      count: db.prepare(
        `SELECT (SELECT count(*) FROM delivery WHERE state = ?1)
           + iif(?1 = 'delivered', (SELECT total(delivered) FROM outcome), 0) AS count`,
      ),
      remove: db.prepare('DELETE FROM delivery WHERE id = ?'),
    };
  }

  /** Removes a slice; 0 when nothing is past its retention. */
  run({ delivered, dead }: Retention, now: number): number {
    this.accepted.trim(now);
    return this.sweep('delivered', delivered, now) + this.sweep('dead', dead, now);
  }

  private sweep(state: 'delivered' | 'dead', { age, count }: Retention['dead'], now: number): number {
    const old = this.statements.old.all(state, now - age) as Ended[];
    if (old.length > 0) return this.remove(old, Infinity);
    const over = (this.statements.count.get(state) as { count: number }).count - count;
    return over > 0 ? this.remove(this.statements.first.all(state) as Ended[], over) : 0;
  }

  /** Removes a slice of what is listed, and no more records than told. */
  private remove(listed: Ended[], most: number): number {
    let removed = 0;
    const ids: number[] = [];
    const stripped = new Set<number>();
    for (const { id, count, gone } of listed) {
      if (removed >= Math.min(most, SLICE) || stripped.size === MAX_STRIPPED) break;
      const batch = batchOf(id);
      const taken = Math.min(count, most - removed);
      removed += taken;
      if (gone === 0 && taken === count) {
        this.batches.remove(batch);
        continue;
      }
      if (gone === null) this.statements.remove.run(id);
      ids.push(...(gone === null ? [id] : this.firstDelivered(batch, taken)));
      stripped.add(batch);
    }
    for (const [batch, positions] of toPositions(ids)) this.batches.strip(batch, positions);
    return removed;
  }

  private firstDelivered(batch: number, count: number): number[] {
    const delivered = toRows(this.batches.reader.head(batch)!).filter(({ state }) => state === 'delivered');
    return delivered.slice(0, count).map(({ id }) => id);
  }
}
