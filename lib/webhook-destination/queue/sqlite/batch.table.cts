import type Database from 'libsql';

import type { ClaimLimit } from '../embedded/delivery-store.interface.js' with { 'resolution-mode': 'import' };
import type { AcceptedTable } from './accepted.table.cjs';
import {
  type BatchItem,
  type BatchOutcome,
  decodeBodies,
  decodeItems,
  decodeOutcomes,
  encodeItems,
  encodeOutcomes,
  stripBatch,
} from './batch.codec.cjs';
import { type ClaimedBatch, type DeliveryRow, type InsertedBatch, isUsedUp, type NewBatchRow } from './sqlite.rows.cjs';
import { BATCH_SLOTS } from './sqlite.schema.cjs';

/** A batch with its outcomes, as read from the file. */
interface StoredBatch {
  id: number;
  destination: string;
  source: string;
  state: 'q' | 'r' | 'l';
  accepted_at: number;
  leased_at: number;
  items: string;
  bodies: Uint8Array;
  /** Null until a delivery has an outcome. */
  open: number | null;
  entries: string | null;
}

/** What became of deliveries of one batch, in one group. */
interface GroupOutcome {
  delivered: number;
  gone: number;
  entries: string[];
}

/** The state of a delivery without outcome by that of its batch. */
const STATES = { q: 'queued', r: 'waiting', l: 'delivering' } as const;

/** Batches of deliveries that have had no attempt, or ended with their first. */
export class BatchTable {
  /** Positions without outcome of the batches that are leased; what is not here is read from the file. */
  private readonly pending = new Map<number, Set<number>>();
  private readonly group = new Map<number, GroupOutcome>();
  /** The deliveries of the batch that a group has read last: what fails or is given back together is often of one. */
  private lastRead: { batch: number; rows: Map<number, DeliveryRow> } | undefined;
  private lastId: number;
  private readonly statements;

  constructor(
    private readonly db: Database.Database,
    private readonly accepted: AcceptedTable,
  ) {
    this.statements = {
      insert: db.prepare(
        `INSERT INTO batch (id, destination, source, state, size, accepted_at, leased_at, items, bodies)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      queued: db.prepare('SELECT id, size FROM batch WHERE destination = ? AND state = ? ORDER BY id LIMIT ?'),
      read: db.prepare('SELECT batch.*, open, entries FROM batch LEFT JOIN outcome ON batch = id WHERE id = ?'),
      lease: db.prepare(`UPDATE batch SET state = 'l', leased_at = ? WHERE id = ?`),
      note: db.prepare(
        `INSERT INTO outcome (batch, open, ended_at, delivered, gone, entries) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET open = excluded.open, ended_at = excluded.ended_at,
           delivered = delivered + excluded.delivered, gone = gone + excluded.gone,
           entries = entries || ',' || excluded.entries`,
      ),
      delivered: db.prepare('SELECT delivered FROM outcome WHERE batch = ?'),
      rewrite: db.prepare('UPDATE batch SET state = ?, size = ?, items = ?, bodies = ? WHERE id = ?'),
      rewriteOutcome: db.prepare('UPDATE outcome SET open = ?, delivered = ?, gone = ?, entries = ? WHERE batch = ?'),
      removeOutcome: db.prepare('DELETE FROM outcome WHERE batch = ?'),
      remove: db.prepare('DELETE FROM batch WHERE id = ?'),
    };
    const { last } = db
      .prepare(
        `SELECT max((SELECT coalesce(max(id), 0) FROM batch), (SELECT coalesce(max(id), 0) FROM delivery) / ?,
           (SELECT coalesce(max(last_batch), 0) FROM accepted)) AS last`,
      )
      .get(BATCH_SLOTS) as { last: number };
    this.lastId = Math.floor(last);
  }

  /** Drops what is known of a transaction that was rolled back. */
  forget(): void {
    this.pending.clear();
    this.group.clear();
    this.lastRead = undefined;
  }

  /** Leases are void that ended with their process or thread; those named go on, as do all of a batch at once. */
  recover(leased: number[]): void {
    const batches = new Set<number>();
    for (const id of leased) {
      const batch = Math.floor(id / BATCH_SLOTS);
      if (this.pendingOf(batch).has(id % BATCH_SLOTS)) batches.add(batch);
    }
    this.pending.clear();
    this.db
      .prepare(
        `UPDATE batch SET state = 'r' WHERE state = 'l' AND id NOT IN (SELECT value FROM json_each(?))
           AND NOT EXISTS (SELECT * FROM outcome WHERE batch = id AND open = 0)`,
      )
      .run(JSON.stringify([...batches]));
  }

  /** The clock was set back since the file was written: no window began after now. */
  setBack(now: number): void {
    this.db.prepare(`UPDATE batch SET leased_at = ?1 WHERE state = 'r' AND leased_at > ?1`).run(now);
  }

  /** Stores a batch, save what repeats an accepted message. */
  insert(row: NewBatchRow, now: number): InsertedBatch {
    const { destination, source, acceptedAt, leased, messageIds } = row;
    const id = ++this.lastId;
    const repeated = this.accepted.add({ batch: id, destination, source, messageIds }, now);
    const size = row.size - repeated.length;
    if (size === 0) return { id, repeated };
    const { items, bodies } = repeated.length > 0 ? withoutRepeated(row, repeated) : row;
    const state = leased ? 'l' : 'q';
    this.statements.insert.run(id, destination, source, state, size, acceptedAt, acceptedAt, items, bodies);
    if (leased) {
      const pending = new Set<number>();
      for (let position = 0; position < row.size; position++) pending.add(position);
      for (const position of repeated) pending.delete(position);
      this.pending.set(id, pending);
    }
    return { id, repeated };
  }

  /** Leases the oldest batches, and takes the room that they need, until it is used up. */
  claim(destination: string, room: ClaimLimit, now: number): ClaimedBatch[] {
    const claimed: ClaimedBatch[] = [];
    // What was leased before is older than all that never was.
    for (const state of ['r', 'q']) {
      if (isUsedUp(room)) break;
      const queued = this.statements.queued.all(destination, state, room.deliveries) as { id: number }[];
      for (const { id } of queued) {
        if (isUsedUp(room)) break;
        const batch = this.lease(id, now);
        room.deliveries -= batch.pending.length;
        room.bytes -= batch.bodies.byteLength;
        claimed.push(batch);
      }
    }
    return claimed;
  }

  /** Takes a delivery off the pending ones of a leased batch; false when it is none of them. */
  take(id: number): boolean {
    const batch = Math.floor(id / BATCH_SLOTS);
    return this.pendingOf(batch).delete(id % BATCH_SLOTS);
  }

  /** Notes what became of a delivery that was taken: delivered, with the JSON of its attempt, or gone. */
  note(id: number, attempt?: string): void {
    const batch = Math.floor(id / BATCH_SLOTS);
    let outcome = this.group.get(batch);
    if (!outcome) this.group.set(batch, (outcome = { delivered: 0, gone: 0, entries: [] }));
    const position = id % BATCH_SLOTS;
    if (attempt === undefined) outcome.gone++;
    else outcome.delivered++;
    outcome.entries.push(attempt === undefined ? `[${position}]` : `[${position},${attempt}]`);
  }

  /** Writes what was noted, one row for each batch; one without records and pending deliveries is removed. */
  writeNotes(now: number): void {
    for (const [batch, { delivered, gone, entries }] of this.group) {
      const open = this.pendingOf(batch).size > 0;
      this.statements.note.run(batch, Number(open), now, delivered, gone, entries.join(','));
      if (open) continue;
      this.pending.delete(batch);
      if (delivered === 0 && this.deliveredOf(batch) === 0) this.remove(batch);
    }
    this.group.clear();
    this.lastRead = undefined;
  }

  read(batch: number): StoredBatch | undefined {
    return this.statements.read.get(batch) as StoredBatch | undefined;
  }

  /** A delivery that is in its batch, as a row of its own would have it. */
  readDelivery(id: number): DeliveryRow | undefined {
    const batch = Math.floor(id / BATCH_SLOTS);
    if (this.lastRead?.batch !== batch) {
      const stored = this.read(batch);
      this.lastRead = stored && { batch, rows: new Map(toRows(stored).map((row) => [row.id, row])) };
    }
    return this.lastRead?.rows.get(id);
  }

  /** Removes deliveries from a batch, with all that is known of them. */
  strip(batch: number, positions: Set<number>): void {
    const stored = this.read(batch);
    if (!stored) return;
    const { items, bodies } = stripBatch(decodeItems(stored.items), stored.bodies, positions);
    const outcomes = decodeOutcomes(stored.entries).filter(([position]) => !positions.has(position));
    const delivered = outcomes.filter((outcome) => outcome.length > 1).length;
    const size = items.filter((item) => item !== null).length;
    const open = toPending(items, outcomes).size > 0;
    if (!open && delivered === 0) return this.remove(batch);
    this.pending.delete(batch);
    this.statements.rewrite.run(open ? stored.state : 'l', size, encodeItems(items), bodies, batch);
    const entries = encodeOutcomes(outcomes);
    if (outcomes.length === 0) this.statements.removeOutcome.run(batch);
    else this.statements.rewriteOutcome.run(Number(open), delivered, outcomes.length - delivered, entries, batch);
  }

  remove(batch: number): void {
    this.statements.remove.run(batch);
    this.statements.removeOutcome.run(batch);
    this.pending.delete(batch);
  }

  private lease(id: number, now: number): ClaimedBatch {
    const { source, state, accepted_at, leased_at, items, bodies, entries } = this.read(id)!;
    const leasedBefore = state === 'r' ? leased_at : null;
    this.statements.lease.run(leasedBefore ?? now, id);
    const pending = toPending(decodeItems(items), decodeOutcomes(entries));
    this.pending.set(id, pending);
    return { id, source, accepted_at, leased_at: leasedBefore, items, bodies, pending: [...pending] };
  }

  private deliveredOf(batch: number): number {
    return (this.statements.delivered.get(batch) as { delivered: number }).delivered;
  }

  private pendingOf(batch: number): Set<number> {
    const known = this.pending.get(batch);
    if (known) return known;
    const stored = this.read(batch);
    if (stored?.state !== 'l' || stored.open === 0) return new Set();
    const pending = toPending(decodeItems(stored.items), decodeOutcomes(stored.entries));
    this.pending.set(batch, pending);
    return pending;
  }
}

function withoutRepeated(row: NewBatchRow, repeated: number[]): { items: string; bodies: Uint8Array } {
  const { items, bodies } = stripBatch(decodeItems(row.items), row.bodies, new Set(repeated));
  return { items: encodeItems(items), bodies };
}

function toPending(items: BatchItem[], outcomes: BatchOutcome[]): Set<number> {
  const pending = new Set(items.flatMap((item, position) => (item === null ? [] : [position])));
  for (const [position] of outcomes) pending.delete(position);
  return pending;
}

/** The deliveries that are in a batch, and not in rows of their own. */
export function toRows({
  id,
  destination,
  source,
  state,
  accepted_at,
  leased_at,
  ...batch
}: StoredBatch): DeliveryRow[] {
  const items = decodeItems(batch.items);
  const bodies = decodeBodies(items, batch.bodies);
  const outcomes = new Map(decodeOutcomes(batch.entries).map((outcome) => [outcome[0], outcome]));
  return items.flatMap((item, position) => {
    const outcome = outcomes.get(position);
    if (item === null || outcome?.length === 1) return [];
    const attempt = outcome?.[1] as { startedAt: number } | undefined;
    return {
      id: id * BATCH_SLOTS + position,
      destination,
      source,
      message_id: item[0],
      user_id: item[1],
      state: attempt ? 'delivered' : STATES[state],
      body: bodies[position]!,
      accepted_at,
      due_at: accepted_at,
      first_attempt_at: attempt?.startedAt ?? (state === 'q' ? null : leased_at),
      attempts: attempt ? JSON.stringify([attempt]) : '[]',
      failed_urls: '[]',
      reason: null,
    } satisfies DeliveryRow;
  });
}
