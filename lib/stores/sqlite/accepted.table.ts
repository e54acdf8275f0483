import type { SqliteConnection } from './sqlite.connection.js';

import type { RetentionBound } from '../../webhook-destination/queue/retention.options.js';
import type { MessageKey } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { toText } from './batch.codec.js';
import { AcceptedIds, type AcceptedMessages } from './accepted-ids.js';

/** Share of the `count` bound that is forgotten at once. */
const PART = 1 / 64;

/** Number of ids in a row, which its last batch may exceed; all reach their age together. */
const ROW_IDS = 256;

/** Messages to be stored, with their ids as a JSON list in the stored form. */
interface NewAcceptedMessages extends Omit<AcceptedMessages, 'messageIds'> {
  messageIds: string;
}

interface AcceptedRow {
  last_batch: number;
  accepted_at: number;
  batches: Uint8Array;
}

/** Consecutive rows that are forgotten together when there are too many ids. */
interface Slice {
  readonly last: number;
  /** Number of ids in them. */
  readonly count: number;
}

/** What the file remembers; replaced, never modified. */
interface Remembered {
  /** Oldest first. */
  readonly slices: readonly Slice[];
  /** The last batch that was removed. */
  readonly removed: number;
}

/** A row to be written: consecutive batches, each as JSON. */
interface NewRow {
  lastBatch: number;
  acceptedAt: number;
  batches: string[];
  /** Number of ids in them. */
  count: number;
}

/**
 * Remembers which messages were accepted. The file holds their ids in the order of arrival, in at least one row for
 * each commit, because an index would cost a page for each id. Memory holds the batch of each id, by a hash of the id.
 */
export class AcceptedTable {
  private readonly ids = new AcceptedIds();
  private remembered: Remembered = { slices: [], removed: 0 };
  /** `remembered` before the current transaction. */
  private committed = this.remembered;
  /** Ids that the transaction has added but not written. */
  private row: NewRow | undefined;
  /** The oldest row that was not past its age when it was last checked. */
  private oldest: Omit<AcceptedRow, 'batches'> | undefined;
  /** The last batch that is past its age. */
  private lastOld = 0;
  private readonly statements = {
    insert: this.db.prepare('INSERT INTO accepted VALUES (?, ?, ?)'),
    next: this.db.prepare(
      'SELECT last_batch, accepted_at FROM accepted WHERE last_batch > ? ORDER BY last_batch LIMIT 1',
    ),
    all: this.db.prepare(
      'SELECT last_batch, accepted_at, CAST(batches AS BLOB) AS batches FROM accepted ORDER BY last_batch',
    ),
    remove: this.db.prepare('DELETE FROM accepted WHERE last_batch <= ?'),
  };

  constructor(
    private readonly db: SqliteConnection,
    private readonly bound: Required<RetentionBound>,
  ) {}

  /** Reads the ids that the file remembers, and forgets those past a bound. Returns the number of unreadable rows. */
  recover(now: number): number {
    let unreadable = 0;
    for (const row of this.statements.all.iterate() as Iterable<AcceptedRow>) {
      const batches = toBatches(row);
      if (!batches) {
        unreadable++;
        continue;
      }
      for (const messages of batches) this.ids.restore(messages);
      this.countIds(row.last_batch, batches.flatMap(({ messageIds }) => messageIds).length);
    }
    this.trim(now);
    return unreadable;
  }

  /** Remembers the messages of a batch; returns the positions of those that were accepted before. */
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

  /** Returns those of the destinations for which a message is remembered. */
  remembers({ source, messageId }: MessageKey, destinations: readonly string[], now: number): string[] {
    const first = this.firstBatch(now);
    return destinations.filter((destination) => this.ids.has({ destination, source, messageId }, first));
  }

  /** Writes the added ids; to be called before each commit. */
  write(): void {
    if (!this.row) return;
    const { lastBatch, acceptedAt, batches, count } = this.row;
    this.row = undefined;
    this.statements.insert.run(lastBatch, acceptedAt, `[${batches.join()}]`);
    this.countIds(lastBatch, count);
    this.forget(this.remembered.removed);
  }

  /** Forgets the oldest batches that are past a bound. */
  trim(now: number): void {
    this.forget(this.firstBatch(now) - 1);
  }

  commit(): void {
    this.ids.commit(this.remembered.removed);
    this.committed = this.remembered;
  }

  /** Restores memory to match the file, whose changes were rolled back. */
  rollback(): void {
    this.ids.rollback();
    this.remembered = this.committed;
    this.row = undefined;
  }

  /** Counts the ids of a row that follows all others. */
  private countIds(last: number, count: number): void {
    const slices = [...this.remembered.slices];
    const open = slices.at(-1);
    if (open && open.count < this.bound.count * PART) slices.splice(-1, 1, { last, count: open.count + count });
    else slices.push({ last, count });
    this.remembered = { ...this.remembered, slices };
  }

  /** Removes the rows up to `upTo`, then the oldest slices while there are too many ids. */
  private forget(upTo: number): void {
    let last = upTo;
    const slices = this.remembered.slices.filter((slice) => slice.last > upTo);
    let excess = slices.reduce((sum, { count }) => sum + count, -this.bound.count);
    for (; excess > 0; excess -= slices.shift()!.count) last = slices[0]!.last;
    if (last === this.remembered.removed) return;
    this.statements.remove.run(last);
    this.remembered = { slices, removed: last };
  }

  /** Returns the first batch that is neither past its age nor removed; reads each row once, when it reaches its age. */
  private firstBatch(now: number): number {
    while (this.oldest === undefined || this.oldest.accepted_at <= now - this.bound.age) {
      this.lastOld = this.oldest?.last_batch ?? this.lastOld;
      this.oldest = this.statements.next.get(this.lastOld) as AcceptedRow | undefined;
      if (!this.oldest) break;
    }
    return Math.max(this.lastOld, this.remembered.removed) + 1;
  }
}

function without(messageIds: string[], positions: number[]): string {
  const left = new Set(positions);
  return JSON.stringify(messageIds.filter((_, position) => !left.has(position)));
}

/** Returns the batches of a row; undefined if it is damaged. */
function toBatches({ batches }: AcceptedRow): AcceptedMessages[] | undefined {
  try {
    const listed = JSON.parse(toText(batches)) as [number, string, string, string[]][];
    return listed.map(([batch, destination, source, [...messageIds]]) => ({ batch, destination, source, messageIds }));
  } catch {
    return undefined;
  }
}
