import type { SqliteConnection } from './sqlite.connection.js';

import type { SweptRecords } from '../../webhook-destination/queue/delivery.interface.js';
import { type CountedRecords, limitFairly } from '../../webhook-destination/queue/retention-bound.util.js';
import {
  boundOf,
  type DeliveredBound,
  ENDED_STATES,
  type EndedState,
  type Retention,
} from '../../webhook-destination/queue/retention.options.js';
import { BATCH_SLOTS, batchOf, toPositions } from './batch.codec.js';
import { toRows } from './batch.reader.js';
import { type BatchTable, MAX_STRIPPED } from './batch.table.js';

/** Records removed at once; the last batch may exceed it. */
const SLICE = 50;

/** How long one call sweeps, in ms: other calls of the thread wait meanwhile. */
const CALL_TIME = 5;

/** An ended delivery with a row of its own, or all deliveries of a batch that were delivered without one. */
interface Ended {
  /** Id of the delivery, or of the first position in the batch. */
  id: number;
  endedAt: number;
  count: number;
  /** Number of deliveries of the batch with rows of their own; null for a single delivery. */
  gone: number | null;
}

/** Removes the records of ended deliveries that are past their retention, in calls that are short. */
export class SqliteSweep {
  /** The sweep in progress, and what it has removed. */
  private steps: Generator<void> | undefined;
  private swept: SweptRecords = { removed: 0, surplus: [] };
  private readonly statements;

  constructor(
    db: SqliteConnection,
    private readonly batches: BatchTable,
  ) {
    // A dead delivery always has a row of its own.
    const ended = db.prepare(
      `SELECT * FROM (
         SELECT id, ended_at AS endedAt, 1 AS count, NULL AS gone FROM delivery
         WHERE state = :state AND destination = :destination AND ended_at <= :until ORDER BY ended_at LIMIT ${SLICE})
       UNION ALL
       SELECT * FROM (
         SELECT batch * ${BATCH_SLOTS}, ended_at, delivered, gone FROM outcome
         WHERE :state = 'delivered' AND destination = :destination AND open = 0 AND delivered > 0 AND ended_at <= :until
         ORDER BY ended_at, batch LIMIT ${SLICE})
       ORDER BY endedAt, id LIMIT ${SLICE}`,
    );
    const counts = db.prepare('SELECT destination, count, bytes FROM counted WHERE state = ? AND count > 0');
    const tidy = db.prepare('DELETE FROM counted WHERE count = 0 AND bytes = 0');
    this.statements = { ended, counts, tidy };
  }

  /** Begins or continues a sweep; returns what it has removed once it has ended. */
  run(retention: Retention, now: number, isFirst: boolean): SweptRecords | undefined {
    if (isFirst || !this.steps) {
      this.swept = { removed: 0, surplus: [] };
      this.steps = this.sweepAll(retention, now);
    }
    const end = performance.now() + CALL_TIME;
    do if (this.steps.next().done) return this.swept;
    while (performance.now() < end);
    return undefined;
  }

  private *sweepAll(retention: Retention, now: number): Generator<void> {
    for (const state of ENDED_STATES) yield* this.sweep(state, boundOf(retention, state), now);
    this.statements.tidy.run();
  }

  private *sweep(state: EndedState, bound: Required<DeliveredBound>, now: number): Generator<void> {
    for (const { destination } of this.counts(state)) {
      yield* this.remove(state, destination, now - bound.age, Infinity);
    }
    for (const { destination, count, kept } of limitFairly(this.counts(state), bound)) {
      const surplus = yield* this.remove(state, destination, Number.MAX_SAFE_INTEGER, count - kept);
      if (surplus > 0) this.swept.surplus.push({ destination, state, count: surplus });
    }
  }

  /** Removes records that ended until a time, at most `most`, first those that ended first; returns their number. */
  private *remove(state: EndedState, destination: string, until: number, most: number): Generator<void, number> {
    let sum = 0;
    for (let removed = 1; removed > 0 && sum < most; sum += removed) {
      removed = this.removeSlice(this.statements.ended.all({ state, destination, until }) as Ended[], most - sum);
      this.swept.removed += removed;
      yield;
    }
    return sum;
  }

  private counts(state: EndedState): CountedRecords[] {
    return this.statements.counts.all(state) as CountedRecords[];
  }

  /** Removes a slice of the listed records, at most `most`. */
  private removeSlice(listed: Ended[], most: number): number {
    let removed = 0;
    const ids: number[] = [];
    const stripped = new Set<number>();
    for (const { id, count, gone } of listed) {
      if (removed >= Math.min(most, SLICE) || stripped.size === MAX_STRIPPED) break;
      const batch = batchOf(id);
      const taken = Math.min(count, most - removed);
      removed += taken;
      if (gone === 0 && taken === count) {
        this.batches.remove(batch);
        continue;
      }
      ids.push(...(gone === null ? [id] : this.firstDelivered(batch, taken)));
      stripped.add(batch);
    }
    for (const [batch, positions] of toPositions(ids)) this.batches.strip(batch, positions);
    return removed;
  }

  private firstDelivered(batch: number, count: number): number[] {
    const delivered = toRows(this.batches.reader.head(batch)!).filter(({ state }) => state === 'delivered');
    return delivered.slice(0, count).map(({ id }) => id);
  }
}
