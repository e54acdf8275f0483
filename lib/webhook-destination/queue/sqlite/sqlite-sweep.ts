import type Database from 'libsql';

import type { Retention } from '../retention.options.js';
import type { AcceptedTable } from './accepted.table.js';
import { BATCH_SLOTS, batchOf, toPositions } from './batch.codec.js';
import { toRows } from './batch.reader.js';
import { type BatchTable, MAX_STRIPPED } from './batch.table.js';

/** Records that one call removes; the last batch may exceed it. */
const SLICE = 500;

/** An ended delivery with a row of its own, or all deliveries of a batch that were delivered without one. */
interface Ended {
  /** Id of the delivery, or of the first position in the batch. */
  id: number;
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

/** Share of its age by which a record may stay longer, so that a sweep need not read each one as it expires. */
const LATENESS = 1 / 1_000;

/** Removes the records of ended deliveries that are past their retention. */
export class SqliteSweep {
  private readonly known: Record<'delivered' | 'dead', Known> = {
    delivered: { since: -Infinity, count: Infinity },
    dead: { since: -Infinity, count: Infinity },
  };
  private readonly statements;

  constructor(
    db: Database.Database,
    private readonly batches: BatchTable,
    private readonly accepted: AcceptedTable,
  ) {
    // A dead delivery always has a row of its own.
    const ended = (condition: string, order: (key: string) => string = () => '') =>
      `SELECT * FROM (
         SELECT id, 1 AS count, NULL AS gone FROM delivery
         WHERE state = ?1 AND ended_at IS NOT NULL AND ${condition} ${order('id')})
       UNION ALL
       SELECT * FROM (
         SELECT batch * ${BATCH_SLOTS} AS id, delivered, gone FROM outcome
         WHERE ?1 = 'delivered' AND open = 0 AND delivered > 0 AND ${condition} ${order('batch')})`;
    const oldest = (key: string) => `ORDER BY ${key} LIMIT ${SLICE}`;
    this.statements = {
      old: db.prepare(`${ended('ended_at <= ?2')} LIMIT ${SLICE}`),
      first: db.prepare(`${ended('true', oldest)} ${oldest('id')}`),
      known: db.prepare(
        `SELECT min(since) AS since, total(count) AS count FROM (
           SELECT min(ended_at) AS since, count(*) AS count FROM delivery WHERE state = ?1 AND ended_at IS NOT NULL
           UNION ALL
           SELECT min(ended_at), total(delivered) FROM outcome WHERE ?1 = 'delivered')`,
      ),
    };
  }

  /** Removes a slice of records; returns their number, 0 when no record is past its retention. */
  run({ delivered, dead }: Retention, now: number): number {
    this.accepted.trim(now);
    return this.sweep('delivered', delivered, now) + this.sweep('dead', dead, now);
  }

  /** To be called when deliveries were settled, and may have ended. */
  countSettled(count: number): void {
    this.known.delivered.count += count;
    this.known.dead.count += count;
  }

  private sweep(state: 'delivered' | 'dead', { age, count }: Retention['dead'], now: number): number {
    const known = this.known[state];
    if (known.since <= now - age || known.count > count) {
      const read = this.statements.known.get(state) as { since: number | null; count: number };
      const old =
        read.since === null || read.since > now - age ? [] : (this.statements.old.all(state, now - age) as Ended[]);
      if (old.length > 0) return this.remove(old, Infinity);
      known.since = Math.max(read.since ?? now, now - age * (1 - LATENESS));
      known.count = read.count;
    }
    const over = known.count - count;
    return over > 0 ? this.remove(this.statements.first.all(state) as Ended[], over) : 0;
  }

  /** Removes a slice of the listed records, at most `most`. */
  private remove(listed: Ended[], most: number): number {
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
