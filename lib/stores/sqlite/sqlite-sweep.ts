import type { SqliteConnection } from './sqlite.connection.js';

import type { SweptRecords } from '../../webhook-destination/queue/delivery.interface.js';
import { limitFairly } from '../../webhook-destination/queue/retention-bound.util.js';
import type { Retention, RetentionBound } from '../../webhook-destination/queue/retention.options.js';
import { BATCH_SLOTS, batchOf, toPositions } from './batch.codec.js';
import { toRows } from './batch.reader.js';
import { type BatchTable, MAX_STRIPPED } from './batch.table.js';

/** Records removed at once; the last batch may exceed it. */
const SLICE = 500;

/** How long one call sweeps, in ms: other calls of the thread wait meanwhile. */
const CALL_TIME = 10;

/** An ended delivery with a row of its own, or all deliveries of a batch that were delivered without one. */
interface Ended {
  /** Id of the delivery, or of the first position in the batch. */
  id: number;
  endedAt: number;
  count: number;
  /** Number of deliveries of the batch with rows of their own; null for a single delivery. */
  gone: number | null;
}

/** Limits of the records of a state, so that a sweep reads them only if some may be past a bound. */
interface Known {
  /** Earliest time at which a removable record can have ended, in ms since the epoch. */
  since: number;
  /** Maximum number of records. */
  count: number;
}

type EndedState = 'delivered' | 'dead';

/** Share of its age by which a record may stay longer, so that a sweep need not read each one as it expires. */
const LATENESS = 1 / 1_000;

/** Removes the records of ended deliveries that are past their retention, in calls that are short. */
export class SqliteSweep {
  private readonly known: Record<EndedState, Known> = {
    delivered: { since: -Infinity, count: Infinity },
    dead: { since: -Infinity, count: Infinity },
  };
  /** The sweep in progress, and what it has removed. */
  private steps: Generator<void> | undefined;
  private swept: SweptRecords = { removed: 0, surplus: [] };
  private readonly statements;

  constructor(
    db: SqliteConnection,
    private readonly batches: BatchTable,
  ) {
    // A dead delivery always has a row of its own. Batches are read in the order of their acceptance.
    const ended = db.prepare(
      `SELECT * FROM (
         SELECT id, ended_at AS endedAt, 1 AS count, NULL AS gone FROM delivery
         WHERE state = :state AND destination = :destination AND ended_at <= :until ORDER BY ended_at LIMIT ${SLICE})
       UNION ALL
       SELECT * FROM (
         SELECT batch * ${BATCH_SLOTS}, ended_at, delivered, gone FROM batch JOIN outcome ON batch = id
         WHERE :state = 'delivered' AND destination = :destination AND state = 'l' AND open = 0 AND delivered > 0 AND ended_at <= :until
         ORDER BY id LIMIT ${SLICE})
       ORDER BY endedAt, id LIMIT ${SLICE}`,
    );
    const next = db.prepare(
      `SELECT min(destination) AS destination FROM (
         SELECT min(destination) AS destination FROM delivery
         WHERE state = :state AND destination > :after AND ended_at IS NOT NULL
         UNION ALL
         SELECT min(destination) FROM batch WHERE :state = 'delivered' AND destination > :after)`,
    );
    const known = db.prepare(
      `SELECT min(since) AS since, total(count) AS count FROM (
         SELECT min(ended_at) AS since, count(*) AS count FROM delivery
         WHERE state = :state AND destination = :destination AND ended_at IS NOT NULL
         UNION ALL
         SELECT min(ended_at), total(delivered) FROM batch JOIN outcome ON batch = id
         WHERE :state = 'delivered' AND destination = :destination AND delivered > 0)`,
    );
    this.statements = { ended, next, known };
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

  /** To be called when deliveries were settled, and may have ended. */
  countSettled(count: number): void {
    this.known.delivered.count += count;
    this.known.dead.count += count;
  }

  private *sweepAll({ delivered, dead }: Retention, now: number): Generator<void> {
    yield* this.sweep('delivered', delivered, now);
    yield* this.sweep('dead', dead, now);
  }

  private *sweep(state: EndedState, { age, count: bound }: Required<RetentionBound>, now: number): Generator<void> {
    const { since, count: most } = this.known[state];
    if (since > now - age && most <= bound) return;
    const known = (this.known[state] = { since: now, count: 0 });
    const counts: { destination: string; count: number }[] = [];
    for (let destination = this.next(state, ''); destination !== null; destination = this.next(state, destination)) {
      const read = this.statements.known.get({ state, destination }) as { since: number | null; count: number };
      known.since = Math.min(known.since, read.since ?? now);
      yield;
      const isOld = read.since !== null && read.since <= now - age;
      const old = isOld ? yield* this.remove(state, destination, now - age, Infinity) : 0;
      counts.push({ destination, count: read.count - old });
      known.count += read.count - old;
    }
    known.since = Math.max(known.since, now - age * (1 - LATENESS));
    for (const { destination, count, kept } of limitFairly(counts, bound)) {
      const surplus = yield* this.remove(state, destination, Number.MAX_SAFE_INTEGER, count - kept);
      known.count -= surplus;
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

  private next(state: EndedState, destination: string): string | null {
    return (this.statements.next.get({ state, after: destination }) as { destination: string | null }).destination;
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
