import type { SqliteConnection } from './sqlite.connection.js';

import { type ClaimLimit, FULL_BATCH } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import type { AcceptedTable } from './accepted.table.js';
import {
  BATCH_SLOTS,
  batchOf,
  type BatchOutcome,
  decodeItems,
  decoding,
  encodeItems,
  encodeOutcomes,
  packBodies,
  stripBodies,
  stripItems,
  toText,
  unpackBodies,
} from './batch.codec.js';
import { RECORD_BYTES } from './sqlite.schema.js';
import { BatchReader, toOutcomes, toRows } from './batch.reader.js';
import { SearchKeyTable } from './search-key.table.js';
import {
  type ClaimedBatch,
  type DeliveryRow,
  type InsertedBatch,
  isUsedUp,
  type NewBatchRow,
} from './delivery-rows.js';

/** Maximum number of batches that one call of the thread strips: each is rewritten. */
export const MAX_STRIPPED = 32;

/** A batch as it is read, its text as a BLOB. */
interface StoredBatch extends Omit<ClaimedBatch, 'items'> {
  items: Uint8Array;
}

/** Outcomes of deliveries of one batch, in one group. */
interface GroupOutcome {
  delivered: number;
  gone: number;
  entries: string[];
}

/**
 * Batches of deliveries: their bodies, and the outcomes of those delivered at the first attempt. A batch holds a
 * delivery until no record of it is left, and is removed with its last delivery.
 */
export class BatchTable {
  readonly reader = new BatchReader(this.db);
  readonly keys = new SearchKeyTable(this.db);
  /** Deliveries without an outcome, by leased batch; batches that are missing here are read from the file. */
  private readonly pending = new Map<number, Set<number>>();
  private readonly group = new Map<number, GroupOutcome>();
  /** The batch that a group has read last: deliveries that fail or are returned together are often in one batch. */
  private lastRead: { batch: number; rows: Map<number, DeliveryRow> } | undefined;
  private lastId: number;
  private readonly statements = {
    insert: this.db.prepare(
      `INSERT INTO batch (id, destination, source, state, size, accepted_at, record_bytes, items, bodies)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    oldest: this.db.prepare(
      `SELECT id, source, accepted_at AS acceptedAt, CAST(items AS BLOB) AS items, bodies FROM batch WHERE destination = ? AND state = ?
       ORDER BY id LIMIT 1`,
    ),
    lease: this.db.prepare(`UPDATE batch SET state = 'l' WHERE id = ?`),
    note: this.db.prepare(
      `INSERT INTO outcome (open, ended_at, delivered, gone, entries, batch, destination)
       SELECT ?, ?, ?, ?, ?, id, destination FROM batch WHERE id = ?
       ON CONFLICT DO UPDATE SET open = excluded.open, ended_at = excluded.ended_at,
         delivered = delivered + excluded.delivered, gone = gone + excluded.gone,
         entries = entries || ',' || excluded.entries`,
    ),
    rewrite: this.db.prepare('UPDATE batch SET state = ?, size = ?, items = ?, bodies = ? WHERE id = ?'),
    rewriteOutcome: this.db.prepare(
      'UPDATE outcome SET open = ?, delivered = ?, gone = ?, entries = ? WHERE batch = ?',
    ),
    leased: this.db.prepare(`SELECT destination, count FROM counted WHERE state = 'l' AND count > 0`),
    lastLeased: this.db.prepare(
      `SELECT id, size - ifnull(delivered + gone, 0) AS open FROM batch LEFT JOIN outcome ON batch = id
       WHERE batch.destination = ? AND state = 'l' ORDER BY id DESC`,
    ),
    release: this.db.prepare(`UPDATE batch SET state = 'r' WHERE id = ?`),
    removeOutcome: this.db.prepare('DELETE FROM outcome WHERE batch = ?'),
    remove: this.db.prepare('DELETE FROM batch WHERE id = ?'),
    removeRow: this.db.prepare('DELETE FROM delivery WHERE id = ?'),
  };

  constructor(private readonly db: SqliteConnection) {
    const last = db.prepare(
      `SELECT max((SELECT coalesce(max(id), 0) FROM batch), (SELECT coalesce(max(id), 0) FROM delivery) / ${BATCH_SLOTS},
         (SELECT coalesce(max(last_batch), 0) FROM accepted)) AS id`,
    );
    this.lastId = (last.get() as { id: number }).id;
  }

  /** Drops the state of a transaction that was rolled back. */
  forget(): void {
    this.pending.clear();
    this.group.clear();
    this.lastRead = undefined;
  }

  /** Ends the leases of an ended process or thread, except for batches with a delivery in `leased`. */
  recover(leased: number[]): void {
    const kept = new Set(leased.filter((id) => this.pendingOf(batchOf(id)).has(id)).map(batchOf));
    this.pending.clear();
    for (const id of this.openLeased()) if (!kept.has(id)) this.statements.release.run(id);
  }

  /** Returns the leased batches with deliveries that have no outcome. They are the last ones, before all records. */
  private openLeased(): number[] {
    const found: number[] = [];
    for (const { destination, count } of this.statements.leased.all() as { destination: string; count: number }[]) {
      let left = count;
      const batches = this.statements.lastLeased.iterate(destination) as Iterable<{ id: number; open: number }>;
      for (const { id, open } of batches) {
        if (open > 0) found.push(id);
        left -= open;
        if (left <= 0) break;
      }
    }
    return found;
  }

  /** Stores a batch, without messages that were accepted before. */
  insert(row: NewBatchRow, accepted: AcceptedTable, now: number): InsertedBatch {
    const { destination, source, acceptedAt, leased, messageIds } = row;
    const id = ++this.lastId;
    const repeated = accepted.add({ batch: id, destination, source, messageIds }, now);
    const size = row.size - repeated.length;
    if (size === 0) return { id, repeated };
    const { items, bodies } = repeated.length > 0 ? withoutRepeated(row, repeated) : row;
    const state = leased ? 'l' : 'q';
    const packed = packBodies(bodies, row.bodies.byteLength >= FULL_BATCH);
    const recordBytes = Math.ceil((items.length + packed.byteLength) / size) + RECORD_BYTES;
    this.statements.insert.run(id, destination, source, state, size, acceptedAt, recordBytes, items, packed);
    if (row.keys)
      this.keys.insert(
        id,
        row.keys.filter(([position]) => !repeated.includes(position)),
      );
    if (leased) {
      const pending = new Set<number>();
      for (let position = 0; position < row.size; position++) pending.add(id * BATCH_SLOTS + position);
      for (const position of repeated) pending.delete(id * BATCH_SLOTS + position);
      this.pending.set(id, pending);
    }
    return { id, repeated };
  }

  /** Leases the oldest batches that were never leased, and reduces `room` by them, until it is used up. */
  claim(destination: string, room: ClaimLimit): ClaimedBatch[] {
    const claimed: ClaimedBatch[] = [];
    for (const batch of this.lease(destination, 'q', room)) {
      const text = decoding('batch', batch.id, () => toText(batch.items));
      const items = decoding('batch', batch.id, () => decodeItems(text));
      const bodies = decoding('batch', batch.id, () => unpackBodies(items, batch.bodies));
      const pending = new Set<number>();
      items.forEach((item, position) => item && pending.add(batch.id * BATCH_SLOTS + position));
      this.pending.set(batch.id, pending);
      room.deliveries -= pending.size;
      room.bytes -= bodies.byteLength;
      claimed.push({ ...batch, items: text, bodies });
    }
    return claimed;
  }

  /** As `claim`, for deliveries without an outcome in batches that were leased before. */
  reclaim(destination: string, room: ClaimLimit): DeliveryRow[] {
    const claimed: DeliveryRow[] = [];
    for (const { id } of this.lease(destination, 'r', room)) {
      const rows = toRows(this.reader.head(id)!).filter(({ state }) => state === 'delivering');
      this.pending.set(id, new Set(rows.map((row) => row.id)));
      for (const { bytes } of rows) room.bytes -= bytes;
      room.deliveries -= rows.length;
      claimed.push(...rows);
    }
    return claimed;
  }

  private *lease(destination: string, state: 'q' | 'r', room: ClaimLimit): Generator<StoredBatch> {
    while (!isUsedUp(room)) {
      const batch = this.statements.oldest.get(destination, state) as StoredBatch | undefined;
      if (!batch) return;
      this.statements.lease.run(batch.id);
      yield batch;
    }
  }

  /** Removes a delivery from the pending ones of a leased batch; returns false if it is not pending. */
  take(id: number): boolean {
    return this.pendingOf(batchOf(id)).delete(id);
  }

  /** Records the outcome of a taken delivery: delivered, with the JSON of its attempt, or moved to its own row. */
  recordOutcome(id: number, attempt?: string): void {
    const batch = batchOf(id);
    let outcome = this.group.get(batch);
    if (!outcome) this.group.set(batch, (outcome = { delivered: 0, gone: 0, entries: [] }));
    const position = id % BATCH_SLOTS;
    if (attempt === undefined) outcome.gone++;
    else outcome.delivered++;
    outcome.entries.push(attempt === undefined ? `[${position}]` : `[${position},${attempt}]`);
  }

  /** Writes the recorded outcomes, one row for each batch. */
  writeOutcomes(now: number): void {
    for (const [batch, { delivered, gone, entries }] of this.group) {
      const open = this.pendingOf(batch).size > 0;
      this.statements.note.run(Number(open), now, delivered, gone, entries.join(','), batch);
      if (!open) this.pending.delete(batch);
    }
    this.group.clear();
    this.lastRead = undefined;
  }

  /** Returns a delivery that has no row of its own in the form of such a row. */
  readDelivery(id: number): DeliveryRow | undefined {
    const batch = batchOf(id);
    if (this.lastRead?.batch !== batch) {
      const head = this.reader.head(batch);
      this.lastRead = head && { batch, rows: new Map(toRows(head).map((row) => [row.id, row])) };
    }
    return this.lastRead?.rows.get(id);
  }

  /** Returns a delivery without a row of its own, if it is wanted. A delivered one must then get such a row. */
  moveOut(id: number, isWanted: (row: DeliveryRow) => boolean): DeliveryRow | undefined {
    const batch = batchOf(id);
    const head = this.reader.head(batch);
    const row = head && toRows(head).find((one) => one.id === id);
    if (!row || !isWanted(row)) return undefined;
    if (row.state === 'delivered') {
      const outcomes = toOutcomes(head.entries).map((one): BatchOutcome =>
        one[0] === id % BATCH_SLOTS ? [one[0]] : one,
      );
      this.writeEntries(batch, head.open ?? 0, outcomes);
      this.lastRead = undefined;
    }
    return row;
  }

  /**
   * Removes deliveries of a batch with all their data and rows of their own, and the batch with its last delivery.
   * Returns whether the batch was rewritten.
   */
  strip(batch: number, positions: ReadonlySet<number>): boolean {
    for (const position of positions) {
      const id = batch * BATCH_SLOTS + position;
      this.statements.removeRow.run(id);
      this.keys.remove(id, id + 1);
    }
    const head = this.reader.head(batch);
    if (!head) return false;
    const { items, joined } = this.reader.decode(batch);
    const left = stripItems(items, positions);
    const size = left.filter((item) => item !== null).length;
    if (size === 0) {
      this.remove(batch);
      return false;
    }
    const outcomes = decoding('batch', batch, () => toOutcomes(head.entries)).filter(
      ([position]) => !positions.has(position),
    );
    const open = size > outcomes.length;
    const stored = this.reader.contents(batch).bodies;
    const bodies = packBodies(stripBodies(items, joined, positions), joined.byteLength !== stored.byteLength);
    this.pending.delete(batch);
    this.statements.rewrite.run(open ? head.state : 'l', size, encodeItems(left), bodies, batch);
    if (outcomes.length === 0) this.statements.removeOutcome.run(batch);
    else this.writeEntries(batch, Number(open), outcomes);
    return true;
  }

  remove(batch: number): void {
    this.statements.remove.run(batch);
    this.statements.removeOutcome.run(batch);
    this.keys.remove(batch * BATCH_SLOTS, (batch + 1) * BATCH_SLOTS);
    this.pending.delete(batch);
  }

  private writeEntries(batch: number, open: number, outcomes: BatchOutcome[]): void {
    const delivered = outcomes.filter((outcome) => outcome.length > 1).length;
    const gone = outcomes.length - delivered;
    this.statements.rewriteOutcome.run(open, delivered, gone, encodeOutcomes(outcomes), batch);
  }

  /** Returns the deliveries of a leased batch that have no outcome. */
  private pendingOf(batch: number): Set<number> {
    const known = this.pending.get(batch);
    if (known) return known;
    const head = this.reader.head(batch);
    if (head?.state !== 'l' || head.open === 0) return new Set();
    const rows = toRows(head).filter(({ state }) => state === 'delivering');
    const pending = new Set(rows.map(({ id }) => id));
    this.pending.set(batch, pending);
    return pending;
  }
}

function withoutRepeated(row: NewBatchRow, repeated: number[]): { items: string; bodies: Uint8Array } {
  const items = decodeItems(row.items);
  const positions = new Set(repeated);
  return { items: encodeItems(stripItems(items, positions)), bodies: stripBodies(items, row.bodies, positions) };
}
