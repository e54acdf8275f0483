import type Database from 'libsql';

import {
  type BatchItem,
  type BatchOutcome,
  decodeBodies,
  decodeItems,
  decodeOutcomes,
  encodeOutcomes,
} from './batch.codec.cjs';
import type { ClaimedBatch, DeliveryRow, NewBatchRow } from './sqlite.rows.cjs';
import { BATCH_SLOTS } from './sqlite.schema.cjs';

/** A batch with its outcomes, as read from the file. */
interface StoredBatch {
  id: number;
  destination: string;
  source: string;
  state: 'q' | 'l' | 's';
  accepted_at: number;
  leased_at: number | null;
  items: string;
  bodies: string;
  entries: string | null;
}

/** What became of deliveries of one batch, in one group. */
interface GroupOutcome {
  delivered: number;
  gone: number;
  entries: string[];
}

/** Batches of deliveries that have had no attempt, or ended with their first. */
export class BatchTable {
  /** Positions without outcome of the batches that are leased; what is not here is read from the file. */
  private readonly pending = new Map<number, Set<number>>();
  private readonly group = new Map<number, GroupOutcome>();
  private readonly statements;

  constructor(private readonly db: Database.Database) {
    this.statements = {
      insert: db.prepare(
        `INSERT INTO batch (destination, source, state, size, accepted_at, leased_at, items, bodies)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      queued: db.prepare(`SELECT id, size FROM batch WHERE destination = ? AND state = 'q' ORDER BY id LIMIT ?`),
      read: db.prepare('SELECT batch.*, entries FROM batch LEFT JOIN outcome ON batch = id WHERE id = ?'),
      lease: db.prepare(`UPDATE batch SET state = 'l', leased_at = coalesce(leased_at, ?) WHERE id = ?`),
      note: db.prepare(
        `INSERT INTO outcome (batch, ended_at, delivered, gone, entries) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET ended_at = excluded.ended_at, delivered = delivered + excluded.delivered,
           gone = gone + excluded.gone, entries = entries || ',' || excluded.entries`,
      ),
      delivered: db.prepare('SELECT delivered FROM outcome WHERE batch = ?'),
      settle: db.prepare(`UPDATE batch SET state = 's' WHERE id = ?`),
      rewrite: db.prepare('UPDATE batch SET size = ?, items = ?, bodies = ? WHERE id = ?'),
      rewriteOutcome: db.prepare('UPDATE outcome SET delivered = ?, gone = ?, entries = ? WHERE batch = ?'),
      removeOutcome: db.prepare('DELETE FROM outcome WHERE batch = ?'),
      remove: db.prepare('DELETE FROM batch WHERE id = ?'),
    };
  }

  /** Drops what is known of a transaction that was rolled back. */
  forget(): void {
    this.pending.clear();
    this.group.clear();
  }

  /** Leases that ended with their process are void. */
  recover(): void {
    this.db.exec(`UPDATE batch SET state = 'q' WHERE state = 'l'`);
  }

  insert({ destination, source, size, acceptedAt, items, bodies, leased }: NewBatchRow): number {
    const { lastInsertRowid } = this.statements.insert.run(
      destination,
      source,
      leased ? 'l' : 'q',
      size,
      acceptedAt,
      leased ? acceptedAt : null,
      items,
      bodies,
    );
    const id = Number(lastInsertRowid);
    if (leased) this.pending.set(id, new Set(Array.from({ length: size }, (_, position) => position)));
    return id;
  }

  /** Leases the oldest batches, up to the first that reaches the limit. */
  claim(destination: string, limit: number, now: number): ClaimedBatch[] {
    const queued = this.statements.queued.all(destination, limit) as { id: number; size: number }[];
    const claimed: ClaimedBatch[] = [];
    let count = 0;
    for (const { id } of queued) {
      if (count >= limit) break;
      const { source, accepted_at, leased_at, items, bodies, entries } = this.read(id)!;
      this.statements.lease.run(now, id);
      const pending = toPending(decodeItems(items), decodeOutcomes(entries));
      this.pending.set(id, pending);
      claimed.push({ id, source, accepted_at, leased_at, items, bodies, pending: [...pending] });
      count += pending.size;
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

  /** Writes what was noted, one row for each batch. */
  writeNotes(now: number): void {
    for (const [batch, { delivered, gone, entries }] of this.group) {
      this.statements.note.run(batch, now, delivered, gone, entries.join(','));
      if (this.pendingOf(batch).size === 0) this.finish(batch);
    }
    this.group.clear();
  }

  read(batch: number): StoredBatch | undefined {
    return this.statements.read.get(batch) as StoredBatch | undefined;
  }

  /** A delivery that is in its batch, as a row of its own would have it. */
  readDelivery(id: number): DeliveryRow | undefined {
    const batch = this.read(Math.floor(id / BATCH_SLOTS));
    return batch && toRows(batch).find((row) => row.id === id);
  }

  /** Removes deliveries from a batch, with all that is known of them. */
  strip(batch: number, positions: Set<number>): void {
    const stored = this.read(batch);
    if (!stored) return;
    const before = decodeItems(stored.items);
    const bodies = decodeBodies(before, stored.bodies).filter((_, position) => !positions.has(position));
    const items = before.map((item, position) => (positions.has(position) ? null : item));
    const outcomes = decodeOutcomes(stored.entries).filter(([position]) => !positions.has(position));
    const delivered = outcomes.filter((outcome) => outcome.length > 1).length;
    const size = items.filter((item) => item !== null).length;
    this.pending.delete(batch);
    this.statements.rewrite.run(size, JSON.stringify(items), bodies.join(''), batch);
    if (outcomes.length === 0) this.statements.removeOutcome.run(batch);
    else this.statements.rewriteOutcome.run(delivered, outcomes.length - delivered, encodeOutcomes(outcomes), batch);
    if (toPending(items, outcomes).size === 0) this.finish(batch);
  }

  remove(batch: number): void {
    this.statements.remove.run(batch);
    this.statements.removeOutcome.run(batch);
    this.pending.delete(batch);
  }

  /** A batch without pending deliveries is kept for the records of the delivered, if it has any. */
  private finish(batch: number): void {
    const { delivered } = (this.statements.delivered.get(batch) as { delivered: number } | undefined) ?? {
      delivered: 0,
    };
    if (delivered === 0) return this.remove(batch);
    this.statements.settle.run(batch);
    this.pending.delete(batch);
  }

  private pendingOf(batch: number): Set<number> {
    const known = this.pending.get(batch);
    if (known) return known;
    const stored = this.read(batch);
    if (stored?.state !== 'l') return new Set();
    const pending = toPending(decodeItems(stored.items), decodeOutcomes(stored.entries));
    this.pending.set(batch, pending);
    return pending;
  }
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
      state: attempt ? 'delivered' : state === 'q' ? 'queued' : 'delivering',
      body: bodies[position]!,
      accepted_at,
      due_at: accepted_at,
      first_attempt_at: attempt?.startedAt ?? leased_at,
      attempts: attempt ? JSON.stringify([attempt]) : '[]',
      failed_urls: '[]',
      reason: null,
    } satisfies DeliveryRow;
  });
}
