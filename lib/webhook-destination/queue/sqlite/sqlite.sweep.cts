import type Database from 'libsql';

import type { Retention } from '../retention.options.js' with { 'resolution-mode': 'import' };
import type { AcceptedTable } from './accepted.table.cjs';
import { decodeOutcomes } from './batch.codec.cjs';
import type { BatchTable } from './batch.table.cjs';

/** Rows and batches that one call removes, at most. */
const SLICE = 500;

/** Records of deliveries that ended: a row of its own, or what a batch has of delivered ones. */
interface Ended {
  id: number;
  ended_at: number;
  count: number;
}

/** Removes the records of ended deliveries that are past their retention, the oldest first. */
export class SqliteSweep {
  private readonly statements;

  constructor(
    db: Database.Database,
    private readonly batches: BatchTable,
    private readonly accepted: AcceptedTable,
  ) {
    this.statements = {
      rows: db.prepare(
        `SELECT id, ended_at, 1 AS count FROM delivery WHERE state = ? AND ended_at IS NOT NULL
         ORDER BY ended_at LIMIT ${SLICE}`,
      ),
      rowCount: db.prepare('SELECT count(*) AS count FROM delivery WHERE state = ?'),
      removeRow: db.prepare('DELETE FROM delivery WHERE id = ?'),
      batches: db.prepare(
        `SELECT batch AS id, ended_at, delivered AS count FROM outcome WHERE open = 0 ORDER BY batch LIMIT ${SLICE}`,
      ),
      batchCount: db.prepare('SELECT coalesce(sum(delivered), 0) AS count FROM outcome'),
    };
  }

  /** Removes a slice; 0 when nothing is past its retention. */
  run({ delivered, dead }: Retention, now: number): number {
    this.accepted.trim(now);
    return (
      this.remove('delivered', delivered, now, this.statements.batches.all() as Ended[]) +
      this.remove('dead', dead, now, [])
    );
  }

  private remove(state: string, bound: Retention['dead'], now: number, batches: Ended[]): number {
    const rows = this.statements.rows.all(state) as Ended[];
    const batched = state === 'delivered' ? this.count(this.statements.batchCount) : 0;
    let over = this.count(this.statements.rowCount, state) + batched - bound.count;
    let removed = 0;
    while (removed < SLICE) {
      const [row, batch] = [rows[0], batches[0]];
      const isBatch = batch !== undefined && (row === undefined || batch.ended_at <= row.ended_at);
      const oldest = isBatch ? batches.shift() : rows.shift();
      if (oldest === undefined) break;
      const isOld = oldest.ended_at <= now - bound.age;
      if (!isOld && over <= 0) break;
      const count = isOld ? oldest.count : Math.min(oldest.count, over);
      if (!isBatch) this.statements.removeRow.run(oldest.id);
      else if (count === oldest.count) this.batches.remove(oldest.id);
      else this.batches.strip(oldest.id, this.firstDelivered(oldest.id, count));
      over -= count;
      removed += count;
    }
    return removed;
  }

  private firstDelivered(batch: number, count: number): Set<number> {
    const delivered = decodeOutcomes(this.batches.read(batch)!.entries).filter((outcome) => outcome.length > 1);
    const positions = delivered.map(([position]) => position).sort((a, b) => a - b);
    return new Set(positions.slice(0, count));
  }

  private count(statement: { get(...parameters: unknown[]): unknown }, ...parameters: unknown[]): number {
    return (statement.get(...parameters) as { count: number }).count;
  }
}
