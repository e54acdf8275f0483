import type Database from 'libsql';

import type { Retention } from '../retention.options.js' with { 'resolution-mode': 'import' };
import type { AcceptedTable } from './accepted.table.cjs';
import { decodeOutcomes } from './batch.codec.cjs';
import type { BatchTable } from './batch.table.cjs';
import { BATCH_SLOTS } from './sqlite.schema.cjs';

/** Records that one call removes, give or take a batch. */
const SLICE = 500;

/** Records of deliveries that ended: a row of its own, or what a batch has of delivered ones. */
interface Ended {
  id: number;
  count: number;
}

/** Removes the records of ended deliveries that are past their retention. */
export class SqliteSweep {
  private readonly rows;
  private readonly batches;

  constructor(
    db: Database.Database,
    private readonly table: BatchTable,
    private readonly accepted: AcceptedTable,
  ) {
    const ended = 'SELECT id, 1 AS count FROM delivery WHERE state = ? AND ended_at IS NOT NULL';
    this.rows = {
      old: db.prepare(`${ended} AND ended_at <= ? LIMIT ${SLICE}`),
      first: db.prepare(`${ended} ORDER BY id LIMIT ${SLICE}`),
      count: db.prepare('SELECT count(*) AS count FROM delivery WHERE state = ?'),
      remove: db.prepare('DELETE FROM delivery WHERE id = ?'),
    };
    const closed = 'SELECT batch AS id, delivered AS count FROM outcome WHERE open = 0';
    this.batches = {
      old: db.prepare(`${closed} AND ended_at <= ? LIMIT ${SLICE}`),
      first: db.prepare(`${closed} ORDER BY batch LIMIT ${SLICE}`),
      count: db.prepare('SELECT coalesce(sum(delivered), 0) AS count FROM outcome'),
    };
  }

  /** Removes a slice; 0 when nothing is past its retention. */
  run({ delivered, dead }: Retention, now: number): number {
    this.accepted.trim(now);
    return this.sweep('delivered', delivered, now) + this.sweep('dead', dead, now);
  }

  private sweep(state: 'delivered' | 'dead', { age, count }: Retention['dead'], now: number): number {
    const batches = state === 'delivered' ? this.batches : undefined; // what died has a row of its own
    const oldRows = this.rows.old.all(state, now - age) as Ended[];
    const removed = this.remove(oldRows, (batches?.old.all(now - age) ?? []) as Ended[], Infinity);
    if (removed > 0) return removed;
    const over = countOf(this.rows.count, state) + (batches ? countOf(batches.count) : 0) - count;
    if (over <= 0) return 0;
    return this.remove(this.rows.first.all(state) as Ended[], (batches?.first.all() ?? []) as Ended[], over);
  }

  /** Removes a slice of what was accepted first, and no more records than told. */
  private remove(rows: Ended[], batches: Ended[], most: number): number {
    let removed = 0;
    while (removed < Math.min(most, SLICE)) {
      const [row, batch] = [rows[0], batches[0]];
      if (batch && (!row || batch.id * BATCH_SLOTS < row.id)) {
        batches.shift();
        const count = Math.min(batch.count, most - removed);
        if (count === batch.count) this.table.remove(batch.id);
        else this.table.strip(batch.id, this.firstDelivered(batch.id, count));
        removed += count;
      } else if (row) {
        rows.shift();
        this.rows.remove.run(row.id);
        removed++;
      } else {
        break;
      }
    }
    return removed;
  }

  private firstDelivered(batch: number, count: number): Set<number> {
    const delivered = decodeOutcomes(this.table.read(batch)!.entries).filter((outcome) => outcome.length > 1);
    const positions = delivered.map(([position]) => position).sort((a, b) => a - b);
    return new Set(positions.slice(0, count));
  }
}

function countOf(statement: { get(...parameters: unknown[]): unknown }, ...parameters: unknown[]): number {
  return (statement.get(...parameters) as { count: number }).count;
}
