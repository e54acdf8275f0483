import type Database from 'libsql';

import { type CheckedQuery, matches } from '../query.util.js';
import { BATCH_SLOTS, type BatchItem, batchOf, decodeItems, toPositions } from './batch.codec.js';
import { toRows } from './batch.reader.js';
import type { BatchTable } from './batch.table.js';
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  matchesRow,
  type Slice,
  toCondition,
  toDeliveryRows,
  type WholeRows,
} from './delivery-rows.js';
import { IdSlicer } from './id-slicer.js';

/** Maximum number of batches and rows that one slice of a walk reads. */
const SLICE_BATCHES = 200;
const SLICE_ROWS = 1_000;

/** Maximum number of batches that one slice of a deletion rewrites. */
const SLICE_STRIPPED = 32;

/** The ids of one slice: `from <= id < to`. */
interface Range {
  from: number;
  to: number;
}

/** Fields of a batch that a query compares first. */
interface BatchMessages extends Pick<DeliveryRow, 'id' | 'destination' | 'source' | 'acceptedAt'> {
  items: string;
}

/** Walks over the deliveries that match a query, newest first, slice by slice. */
export class SqliteWalk {
  private readonly slices: IdSlicer;
  private readonly items;

  constructor(
    private readonly db: Database.Database,
    private readonly batches: BatchTable,
  ) {
    this.slices = new IdSlicer(db, SLICE_BATCHES, SLICE_ROWS);
    this.items = db.prepare(
      `SELECT id, destination, source, accepted_at AS acceptedAt, items FROM batch WHERE id >= ? AND id < ?
         ORDER BY id DESC`,
    );
  }

  list(query: CheckedQuery, before: number, limit: number): Slice<WholeRows> {
    const range = this.toRange(query, before);
    const { sql, parameters } = toCondition(query);
    const select = this.db.prepare(
      `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE ${sql} AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?`,
    );
    const rows = toDeliveryRows(select.all(...parameters, range.from, range.to, limit));
    const batched: DeliveryRow[] = [];
    for (const found of this.findBatched(query, range)) {
      batched.push(...found.filter(({ id }) => id < range.to));
      if (batched.length >= limit) break;
    }
    const found = [...rows, ...batched].sort((a, b) => b.id - a.id).slice(0, limit);
    return { result: this.batches.reader.withBodies(found), next: toNext(query, range) };
  }

  purge(query: CheckedQuery, before: number): Slice<number> {
    const range = this.toRange(query, before);
    const { sql, parameters } = toCondition(query);
    const matching = `FROM delivery WHERE ${sql} AND id >= ? AND id < ?`;
    const rows = this.db.prepare(`SELECT id ${matching}`).all(...parameters, range.from, range.to) as { id: number }[];
    const ids = rows.map(({ id }) => id);
    for (const found of this.findBatched(query, range)) ids.push(...found.map(({ id }) => id));
    let [result, stripped] = [0, 0];
    for (const [batch, positions] of [...toPositions(ids)].sort(([a], [b]) => b - a)) {
      if (stripped === SLICE_STRIPPED) {
        range.from = (batch + 1) * BATCH_SLOTS;
        break;
      }
      if (this.batches.strip(batch, positions)) stripped++;
      result += positions.size;
    }
    this.db.prepare(`DELETE ${matching}`).run(...parameters, range.from, range.to);
    return { result, next: toNext(query, range) };
  }

  /** Returns the slice below `before`. */
  private toRange({ id }: CheckedQuery, before: number): Range {
    if (id !== undefined) return { from: Number(id), to: Math.min(before, Number(id) + 1) };
    return { from: this.slices.startOf(before), to: before };
  }

  /** Yields matching deliveries in the range that have no row of their own, batch by batch, newest first. */
  private *findBatched(query: CheckedQuery, { from, to }: Range): Generator<DeliveryRow[]> {
    if (query.state === 'dead') return;
    // Outcomes are read only for batches that have a message of the query.
    const message: CheckedQuery = { ...query, id: undefined, state: undefined };
    const batches = this.items.all(batchOf(from), Math.ceil(to / BATCH_SLOTS));
    for (const { id, items, ...batch } of batches as BatchMessages[]) {
      const isMatch = ([messageId, userId]: NonNullable<BatchItem>) =>
        matches(message, { ...batch, id: '', messageId, userId: userId ?? undefined }, 'queued');
      if (!decodeItems(items).some((item) => item !== null && isMatch(item))) continue;
      yield toRows(this.batches.reader.head(id)!).filter((row) => matchesRow(query, row));
    }
  }
}

function toNext({ id }: CheckedQuery, { from }: Range): number | undefined {
  return id === undefined && from > 0 ? from : undefined;
}
