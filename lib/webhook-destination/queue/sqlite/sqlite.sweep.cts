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
    return this.sweepDelivered(delivered, now) + this.sweepDead(dead, now);
  }

  private sweepDelivered({ age, count }: Retention['delivered'], now: number): number {
    const oldRows = this.rows.old.all('delivered', now - age) as Ended[];
    const oldBatches = this.batches.old.all(now - age) as Ended[];
    const removed = this.remove(oldRows, oldBatches, SLICE);
    if (removed > 0) return removed;
    const over = countOf(this.rows.count, 'delivered') + countOf(this.batches.count) - count;
    if (over <= 0) return 0;
    const rows = this.rows.first.all('delivered') as Ended[];
    return this.remove(rows, this.batches.first.all() as Ended[], Math.min(over, SLICE), over);
  }

  private sweepDead({ age, count }: Retention['dead'], now: number): number {
    const removed = this.remove(this.rows.old.all('dead', now - age) as Ended[], [], SLICE);
    if (removed > 0) return removed;
    const over = Math.min(countOf(this.rows.count, 'dead') - count, SLICE);
    return over <= 0 ? 0 : this.remove(this.rows.first.all('dead') as Ended[], [], over);
  }

  /**
   * Removes what was accepted first, up to a number of records.
   *
   * @param most records that may be removed, where a batch is not to go as a whole
   */
  private remove(rows: Ended[], batches: Ended[], wanted: number, most = Infinity): number {
    let removed = 0;
    while (removed < wanted) {
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
