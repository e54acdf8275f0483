import type Database from 'libsql';

import { type CheckedSearch, matchesBody, mayHoldEvent } from '../delivery-search.js';
import { BATCH_SLOTS, batchOf, decodeBodies, decodeItems, unpackBodies } from './batch.codec.js';
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

/** Batches and rows read at once. */
const STEP_BATCHES = 32;
const STEP_ROWS = 200;

/** How long one call reads, in ms: other calls of the thread wait meanwhile. */
const CALL_TIME = 10;

/** Finds deliveries, newest first, in calls that are short. */
export class SqliteSearch {
  private readonly steps: IdSlicer;
  private readonly statements;

  constructor(
    private readonly db: Database.Database,
    private readonly batches: BatchTable,
  ) {
    this.steps = new IdSlicer(db, STEP_BATCHES, STEP_ROWS);
    this.statements = {
      batches: db.prepare(
        `SELECT id, iif(?, items, '') AS items FROM batch WHERE id >= ? AND id < ? AND accepted_at >= ?
           AND accepted_at < ? AND (? IS NULL OR destination = ?)`,
      ),
    };
  }

  /** @param before id below which deliveries are searched */
  run(search: CheckedSearch, before: number, limit: number): Slice<WholeRows> {
    const end = performance.now() + CALL_TIME;
    const found: DeliveryRow[] = [];
    const toSlice = (next: number | undefined) => ({ result: this.batches.reader.withBodies(found), next });
    let to = before;
    while (to > 0) {
      const from = this.steps.startOf(to);
      const rows = this.rowsOf(search, from, to);
      const batches = new Set([...rows.keys(), ...this.batchesOf(search, from, to)]);
      for (const batch of [...batches].sort((a, b) => b - a)) {
        if (performance.now() > end && to < before) return toSlice((batch + 1) * BATCH_SLOTS);
        for (const row of this.select(search, batch, rows.get(batch) ?? [], to)) {
          found.push(row);
          if (found.length === limit) return toSlice(row.id);
        }
        to = Math.min(to, batch * BATCH_SLOTS);
      }
      to = from;
      if (performance.now() > end) break;
    }
    return toSlice(to > 0 ? to : undefined);
  }

  /** Returns the deliveries of a step that have a row of their own and match, apart from their bodies, by batch. */
  private rowsOf({ query, acceptedFrom }: CheckedSearch, from: number, to: number): Map<number, DeliveryRow[]> {
    const { sql, parameters } = toCondition(query);
    const select = this.db.prepare(
      `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE ${sql} AND accepted_at >= ? AND id >= ? AND id < ?`,
    );
    const byBatch = new Map<number, DeliveryRow[]>();
    for (const row of toDeliveryRows(select.all(...parameters, Math.max(acceptedFrom, 0), from, to))) {
      const others = byBatch.get(batchOf(row.id));
      if (others) others.push(row);
      else byBatch.set(batchOf(row.id), [row]);
    }
    return byBatch;
  }

  /** Returns the batches of a step that may hold a message of the query. */
  private batchesOf({ query, acceptedFrom }: CheckedSearch, from: number, to: number): number[] {
    if (query.state === 'dead') return [];
    const { destination = null, acceptedBefore = Number.MAX_SAFE_INTEGER, messageId, userId } = query;
    const isNarrow = messageId !== undefined || userId !== undefined;
    const range = [batchOf(from), Math.ceil(to / BATCH_SLOTS), Math.max(acceptedFrom, 0), acceptedBefore];
    const rows = this.statements.batches.all(isNarrow ? 1 : 0, ...range, destination, destination);
    const ids = [messageId === undefined ? [] : [messageId], userId ?? []].map((texts) =>
      Array.from(texts, (text) => JSON.stringify(text)),
    );
    // The items contain an id in its JSON form; rows are compared in full later.
    const isWanted = ({ items }: { items: string }) =>
      ids.every((texts) => texts.length === 0 || texts.some((text) => items.includes(text)));
    return (rows as { id: number; items: string }[]).filter((row) => !isNarrow || isWanted(row)).map(({ id }) => id);
  }

  /** Returns the deliveries of a batch that have no row of their own and match, apart from their bodies. */
  private batched({ query, acceptedFrom }: CheckedSearch, batch: number, to: number): DeliveryRow[] {
    const head = query.state === 'dead' ? undefined : this.batches.reader.head(batch);
    if (head === undefined || head.accepted_at < acceptedFrom) return [];
    return toRows(head).filter((row) => row.id < to && matchesRow(query, row));
  }

  /** Returns the matching deliveries of a batch, newest first. */
  private select(search: CheckedSearch, batch: number, own: DeliveryRow[], to: number): DeliveryRow[] {
    const byBody = search.type !== undefined || search.event !== undefined;
    const bodies = byBody ? this.bodiesOf(search, batch) : undefined;
    if (byBody && bodies === undefined) return [];
    const rows = [...own, ...this.batched(search, batch, to)].sort((a, b) => b.id - a.id);
    return bodies ? rows.filter(({ id }) => matchesBody(search, bodies[id % BATCH_SLOTS]!)) : rows;
  }

  /** Returns the bodies of a batch, by position; undefined if no body can match. */
  private bodiesOf(search: CheckedSearch, batch: number): Buffer[] | undefined {
    const stored = this.batches.reader.contents(batch);
    const items = decodeItems(stored.items);
    const bodies = unpackBodies(items, stored.bodies);
    if (!mayHoldEvent(search, Buffer.from(bodies.buffer, bodies.byteOffset, bodies.byteLength))) return undefined;
    return decodeBodies(items, bodies);
  }
}
