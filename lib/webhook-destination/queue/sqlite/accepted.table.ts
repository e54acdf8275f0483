import type Database from 'libsql';

import type { RetentionBound } from '../retention.options.js';
import { AcceptedIds, type AcceptedMessages } from './accepted-ids.js';
import { AcceptedSlices, PART } from './accepted-slices.js';

/** Rows that are read at once. */
const SLICE = 100;

/** Ids of a row, give or take a batch: they reach their age together. */
const ROW_IDS = 256;

/** Messages on their way into the file: their ids as a JSON list, in the form that is stored. */
export interface NewAcceptedMessages extends Omit<AcceptedMessages, 'messageIds'> {
  messageIds: string;
}

interface AcceptedTime {
  last_batch: number;
  accepted_at: number;
}

interface AcceptedRow extends AcceptedTime {
  batches: string;
}

/** A row to be written: batches one after the other, each as JSON. */
interface NewRow {
  lastBatch: number;
  acceptedAt: number;
  batches: string[];
  /** Ids in them. */
  count: number;
}

/**
 * Remembers which messages were accepted. The file holds their ids in the order in which they came, a row for what is
 * committed together, or part of it, since an index would cost a page for each id; memory holds the batch of each id, by
 * a hash of it.
 */
export class AcceptedTable {
  private readonly ids = new AcceptedIds();
  private readonly slices: AcceptedSlices;
  /** What the transaction under way has added, and not written yet. */
  private row: NewRow | undefined;
  /** The last batch that it has removed. */
  private removed: number | undefined;
  /** Makes the slices what they were before it. */
  private restoreSlices: (() => void) | undefined;
  /** The oldest row that is not past its age, as far as it was looked at. */
  private oldest: AcceptedTime | undefined;
  /** The last batch that is past its age. */
  private lastOld = 0;
  private readonly statements;

  constructor(
    db: Database.Database,
    private readonly bound: Required<RetentionBound>,
  ) {
    this.slices = new AcceptedSlices(bound);
    this.statements = {
      insert: db.prepare('INSERT INTO accepted VALUES (?, ?, ?)'),
      next: db.prepare('SELECT last_batch, accepted_at FROM accepted WHERE last_batch > ? ORDER BY last_batch LIMIT 1'),
      all: db.prepare('SELECT * FROM accepted WHERE last_batch > ? ORDER BY last_batch LIMIT ?'),
      remove: db.prepare('DELETE FROM accepted WHERE last_batch <= ?'),
    };
  }

  /** Reads what the file remembers, and forgets what is past its bounds. */
  recover(now: number): void {
    let last = 0;
    for (;;) {
      const rows = this.statements.all.all(last, SLICE) as AcceptedRow[];
      for (const row of rows) {
        const batches = toBatches(row);
        for (const messages of batches) this.ids.restore(messages);
        this.slices.note(row.last_batch, countOf(batches), row.accepted_at);
        last = row.last_batch;
      }
      if (rows.length < SLICE) break;
    }
    this.trim(now);
  }

  /** Remembers the messages of a batch; answers with the positions of those that were accepted before. */
  add(messages: NewAcceptedMessages, now: number): number[] {
    const { batch, destination, source } = messages;
    const messageIds = JSON.parse(messages.messageIds) as string[];
    const repeated = this.ids.add({ batch, destination, source, messageIds }, this.firstBatch(now));
    const count = messageIds.length - repeated.length;
    if (count === 0) return repeated;
    const stored = repeated.length === 0 ? messages.messageIds : without(messageIds, repeated);
    const row = (this.row ??= { lastBatch: batch, acceptedAt: now, batches: [], count: 0 });
    row.lastBatch = batch;
    row.batches.push(`[${batch},${JSON.stringify(destination)},${JSON.stringify(source)},${stored}]`);
    row.count += count;
    if (row.count >= Math.min(this.bound.count * PART, ROW_IDS)) this.write();
    return repeated;
  }

  /** Writes what was added; to be called before each commit. */
  write(): void {
    if (!this.row) return;
    const { lastBatch, acceptedAt, batches, count } = this.row;
    this.row = undefined;
    this.statements.insert.run(lastBatch, acceptedAt, `[${batches.join()}]`);
    this.restoreSlices ??= this.slices.save();
    this.slices.note(lastBatch, count, acceptedAt);
    this.trim(acceptedAt);
  }

  /** Forgets the oldest batches that are past a bound. */
  trim(now: number): void {
    this.restoreSlices ??= this.slices.save();
    const last = this.slices.trim(now);
    if (last === undefined) return;
    this.statements.remove.run(last);
    this.removed = last;
  }

  commit(): void {
    this.ids.commit(this.removed);
    this.settle();
  }

  /** Makes memory agree with the file again, whose changes were undone. */
  rollback(): void {
    this.ids.rollback();
    this.restoreSlices?.();
    this.settle();
  }

  private settle(): void {
    this.row = undefined;
    this.removed = undefined;
    this.restoreSlices = undefined;
  }

  /** The first batch that is neither past its age nor removed; a row is looked at once, when it reaches its age. */
  private firstBatch(now: number): number {
    while (this.oldest === undefined || this.oldest.accepted_at <= now - this.bound.age) {
      this.lastOld = this.oldest?.last_batch ?? this.lastOld;
      this.oldest = this.statements.next.get(this.lastOld) as AcceptedTime | undefined;
      if (!this.oldest) break;
    }
    return Math.max(this.lastOld, this.removed ?? 0) + 1;
  }
}

function without(messageIds: string[], positions: number[]): string {
  const left = new Set(positions);
  return JSON.stringify(messageIds.filter((_, position) => !left.has(position)));
}

function toBatches({ batches }: AcceptedRow): AcceptedMessages[] {
  const listed = JSON.parse(batches) as [number, string, string, string[]][];
  return listed.map(([batch, destination, source, messageIds]) => ({ batch, destination, source, messageIds }));
}

function countOf(batches: AcceptedMessages[]): number {
  return batches.reduce((count, { messageIds }) => count + messageIds.length, 0);
}
