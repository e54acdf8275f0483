import type Database from 'libsql';

import { AcceptedIds, type AcceptedMessages } from '../embedded/accepted.ids.cjs';
import { AcceptedSlices } from '../embedded/accepted.slices.cjs';
import type { RetentionBound } from '../retention.options.js' with { 'resolution-mode': 'import' };

/** Batches that are read at once. */
const SLICE = 100;

/** Messages on their way into the file: their ids as a JSON list, in the form that is stored. */
export interface NewAcceptedMessages extends Omit<AcceptedMessages, 'messageIds'> {
  messageIds: string;
}

interface AcceptedRow {
  batch: number;
  accepted_at: number;
  destination: string;
  source: string;
  message_ids: string;
}

/**
 * Remembers which messages were accepted. The file holds their ids in the order in which they came, since an index in
 * it would cost a page for each id; memory holds the batches in which an id may be, by a hash of it.
 */
export class AcceptedTable {
  private readonly ids = new AcceptedIds();
  private readonly slices: AcceptedSlices;
  /** What the transaction under way has added, the last batch that it has removed, and how to undo the rest. */
  private added: AcceptedMessages[] = [];
  private removed: number | undefined;
  private restoreSlices: (() => void) | undefined;
  private readonly statements;

  constructor(
    db: Database.Database,
    private readonly bound: Required<RetentionBound>,
  ) {
    this.slices = new AcceptedSlices(bound);
    this.statements = {
      insert: db.prepare('INSERT INTO accepted VALUES (?, ?, ?, ?, ?)'),
      read: db.prepare('SELECT * FROM accepted WHERE batch = ?'),
      all: db.prepare('SELECT * FROM accepted WHERE batch > ? ORDER BY batch LIMIT ?'),
      count: db.prepare('SELECT count(*) AS count FROM accepted'),
      remove: db.prepare('DELETE FROM accepted WHERE batch <= ?'),
    };
  }

  /** Reads what the file remembers, and forgets what is past its bounds. */
  recover(now: number): void {
    let last = 0;
    for (;;) {
      const rows = this.statements.all.all(last, SLICE) as AcceptedRow[];
      if (last === 0) this.reserve(rows);
      for (const row of rows) {
        const messages = toMessages(row);
        this.ids.restore(messages);
        this.slices.note(row.batch, messages.messageIds.length, row.accepted_at);
        last = row.batch;
      }
      if (rows.length < SLICE) break;
    }
    this.trim(now);
  }

  /** Remembers the messages of a batch; answers with the positions of those that were accepted before. */
  add(messages: NewAcceptedMessages, now: number): number[] {
    const { batch, destination, source } = messages;
    const messageIds = JSON.parse(messages.messageIds) as string[];
    const all = { batch, destination, source, messageIds };
    this.added.push(all);
    const repeated = this.ids.add(all, (other, messageId) => this.has(other, messages, messageId, now));
    const count = messageIds.length - repeated.length;
    if (count === 0) return repeated;
    const stored = repeated.length === 0 ? messages.messageIds : without(messageIds, repeated);
    this.statements.insert.run(batch, now, destination, source, stored);
    this.restoreSlices ??= this.slices.save();
    this.slices.note(batch, count, now);
    this.trim(now);
    return repeated;
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
    if (this.removed !== undefined) this.ids.forgetUpTo(this.removed);
    this.settle();
  }

  /** Makes memory agree with the file again, whose changes were undone. */
  rollback(): void {
    for (const messages of this.added) this.ids.remove(messages);
    this.restoreSlices?.();
    this.settle();
  }

  /** Makes room for what the file has, as far as its first batches tell. */
  private reserve(rows: AcceptedRow[]): void {
    const ids = rows.reduce((count, row) => count + toMessages(row).messageIds.length, 0);
    const { count } = this.statements.count.get() as { count: number };
    if (rows.length > 0) this.ids.reserve(Math.min((count * ids) / rows.length, this.bound.count));
  }

  private settle(): void {
    this.added = [];
    this.removed = undefined;
    this.restoreSlices = undefined;
  }

  /** Whether the file has the message in a batch, and not for too long. */
  private has(batch: number, { destination, source }: NewAcceptedMessages, messageId: string, now: number): boolean {
    const row = this.statements.read.get(batch) as AcceptedRow | undefined;
    return (
      row?.destination === destination &&
      row.source === source &&
      row.accepted_at > now - this.bound.age &&
      toMessages(row).messageIds.includes(messageId)
    );
  }
}

function without(messageIds: string[], positions: number[]): string {
  return JSON.stringify(messageIds.filter((_, position) => !positions.includes(position)));
}

function toMessages({ batch, destination, source, message_ids: messageIds }: AcceptedRow): AcceptedMessages {
  return { batch, destination, source, messageIds: JSON.parse(messageIds) as string[] };
}
