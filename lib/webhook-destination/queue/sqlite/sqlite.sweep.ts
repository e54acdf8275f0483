import type Database from 'libsql';

import type { Retention } from '../retention.options.js';
import type { AcceptedTable } from './accepted.table.js';
import { decodeOutcomes } from './batch.codec.js';
import { BATCH_SLOTS, toPositions } from './batch-id.js';
import type { BatchTable } from './batch.table.js';

/** Records that one call removes, give or take a batch. */
const SLICE = 500;

/** Batches that one call takes bodies out of, at most: each is written anew. */
const MAX_STRIPPED = 32;

/** Record of a delivery that ended, in a row of its own. */
interface EndedRow {
  id: number;
}

/** What a batch has of deliveries that ended. */
interface EndedBatch {
  id: number;
  /** Delivered, without a row of their own. */
  count: number;
  /** With one. */
  gone: number;
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
    const ended = 'SELECT id FROM delivery WHERE state = ? AND ended_at IS NOT NULL';
    this.rows = {
      old: db.prepare(`${ended} AND ended_at <= ? LIMIT ${SLICE}`),
      first: db.prepare(`${ended} ORDER BY id LIMIT ${SLICE}`),
      count: db.prepare('SELECT count(*) AS count FROM delivery WHERE state = ?'),
      remove: db.prepare('DELETE FROM delivery WHERE id = ?'),
    };
    const closed = 'SELECT batch AS id, delivered AS count, gone FROM outcome WHERE open = 0 AND delivered > 0';
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
    const oldRows = this.rows.old.all(state, now - age) as EndedRow[];
    const removed = this.remove(oldRows, (batches?.old.all(now - age) ?? []) as EndedBatch[], Infinity);
    if (removed > 0) return removed;
    const over = countOf(this.rows.count, state) + (batches ? countOf(batches.count) : 0) - count;
    if (over <= 0) return 0;
    return this.remove(this.rows.first.all(state) as EndedRow[], (batches?.first.all() ?? []) as EndedBatch[], over);
  }

  /** Removes a slice of what was accepted first, and no more records than told. */
  private remove(rows: EndedRow[], batches: EndedBatch[], most: number): number {
    let removed = 0;
    const stripped = new Set<number>();
    const ids: number[] = [];
    while (removed < Math.min(most, SLICE) && stripped.size < MAX_STRIPPED) {
      const [row, batch] = [rows[0], batches[0]];
      if (batch && (!row || batch.id * BATCH_SLOTS < row.id)) {
        batches.shift();
        const count = Math.min(batch.count, most - removed);
        if (count === batch.count && batch.gone === 0) this.table.remove(batch.id);
        else ids.push(...this.firstDelivered(batch.id, count));
        removed += count;
      } else if (row) {
        rows.shift();
        this.rows.remove.run(row.id);
        ids.push(row.id);
        removed++;
      } else {
        break;
      }
      if (ids.length > 0) stripped.add(Math.floor(ids[ids.length - 1]! / BATCH_SLOTS));
    }
    for (const [batch, positions] of toPositions(ids)) this.table.strip(batch, positions);
    return removed;
  }

  private firstDelivered(batch: number, count: number): number[] {
    const delivered = decodeOutcomes(this.table.reader.head(batch)!.entries).filter((outcome) => outcome.length > 1);
    const positions = delivered.map(([position]) => position).sort((a, b) => a - b);
    return positions.slice(0, count).map((position) => batch * BATCH_SLOTS + position);
  }
}

function countOf(statement: { get(...parameters: unknown[]): unknown }, ...parameters: unknown[]): number {
  return (statement.get(...parameters) as { count: number }).count;
}
