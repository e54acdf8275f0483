import type Database from 'libsql';

import type { CheckedQuery } from '../query.check.js';
import { type BatchItem, decodeItems } from './batch.codec.js';
import { BATCH_SLOTS, toPositions } from './batch.id.js';
import { toRows } from './batch.reader.js';
import type { BatchTable } from './batch.table.js';
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  matches,
  type Slice,
  toCondition,
  toDeliveryRows,
  type WholeDeliveryRow,
} from './sqlite.rows.js';

/** Batches and rows that one slice of a walk looks at, at most. */
const SLICE_BATCHES = 200;
const SLICE_ROWS = 1_000;

/** Batches that one slice of a deletion writes anew, at most. */
const SLICE_STRIPPED = 32;

/** The ids of one slice: `from <= id < to`. */
interface Range {
  from: number;
  to: number;
}

/** Walks over the deliveries that match a query, the newest first, slice by slice. */
export class SqliteWalk {
  private readonly statements;

  constructor(
    private readonly db: Database.Database,
    private readonly batches: BatchTable,
  ) {
    this.statements = {
      batchBound: db.prepare(`SELECT id FROM batch WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ${SLICE_BATCHES - 1}`),
      rowBound: db.prepare(`SELECT id FROM delivery WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ${SLICE_ROWS - 1}`),
      items: db.prepare(
        'SELECT id, destination, source, items FROM batch WHERE id >= ? AND id < ? AND accepted_at < ? ORDER BY id DESC',
      ),
    };
  }

  list(query: CheckedQuery, before: number, limit: number): Slice<WholeDeliveryRow[]> {
    const range = this.toRange(query, before);
    const { sql, parameters } = toCondition(query);
    const select = this.db.prepare(
      `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE ${sql} AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?`,
    );
    const rows = toDeliveryRows(select.all(...parameters, range.from, range.to, limit));
    const batched: DeliveryRow[] = [];
    for (const batch of this.findBatches(query, range)) {
      if (batched.length >= limit) break;
      batched.push(
        ...toRows(this.batches.reader.head(batch)!).filter((row) => row.id < range.to && matches(row, query)),
      );
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
    for (const batch of this.findBatches(query, range)) {
      for (const row of toRows(this.batches.reader.head(batch)!)) if (matches(row, query)) ids.push(row.id);
    }
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

  /** Where the slice below `before` begins; both tables are cut at the same batch. */
  private toRange({ id }: CheckedQuery, before: number): Range {
    if (id !== undefined) return { from: Number(id), to: Math.min(before, Number(id) + 1) };
    const batch = this.statements.batchBound.get(Math.ceil(before / BATCH_SLOTS)) as { id: number } | undefined;
    const row = this.statements.rowBound.get(before) as { id: number } | undefined;
    const first = Math.max(batch?.id ?? 0, Math.floor((row?.id ?? 0) / BATCH_SLOTS));
    return { from: first * BATCH_SLOTS, to: before };
  }

  /** Ids of the batches of the range that may hold deliveries of the query, the newest first. */
  private findBatches(query: CheckedQuery, { from, to }: Range): number[] {
    if (query.state === 'dead') return [];
    const { destination, source, messageId, userId, acceptedBefore = Number.MAX_SAFE_INTEGER } = query;
    const ids = [Math.floor(from / BATCH_SLOTS), Math.ceil(to / BATCH_SLOTS)];
    const batches = this.statements.items.all(...ids, acceptedBefore) as {
      id: number;
      destination: string;
      source: string;
      items: string;
    }[];
    return batches
      .filter((batch) => (destination ?? batch.destination) === batch.destination)
      .filter((batch) => source === undefined || source.has(batch.source))
      .filter(
        ({ items }) =>
          (messageId === undefined && userId === undefined) || decodeItems(items).some((item) => isOf(item, query)),
      )
      .map(({ id }) => id);
  }
}

/** Whether an item is of the message and the user that the query names; of none, if it names none. */
function isOf(item: BatchItem, { messageId, userId }: CheckedQuery): boolean {
  if (item === null || (messageId === undefined && userId === undefined)) return false;
  if (userId !== undefined && (item[1] === null || !userId.has(item[1]))) return false;
  return (messageId ?? item[0]) === item[0];
}

function toNext({ id }: CheckedQuery, { from }: Range): number | undefined {
  return id === undefined && from > 0 ? from : undefined;
}
