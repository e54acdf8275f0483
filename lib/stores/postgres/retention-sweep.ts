import type { SweptRecords } from '../../webhook-destination/queue/delivery.interface.js';
import { limitFairly } from '../../webhook-destination/queue/retention-bound.util.js';
import {
  boundOf,
  type DeliveredBound,
  ENDED_STATES,
  type EndedState,
  type Retention,
} from '../../webhook-destination/queue/retention.options.js';
import { decodeText, encodeText } from './delivery.codec.js';
import type { LongStatements } from './long-statements.js';
import { addCounts, counted, countsIn, foldCounts, readCounts } from './record-counts.js';
import { PORTION } from './statement-runner.js';

/** How much longer a message is remembered if its record still exists, in ms: an hour at a time. */
const EXTENSION = 60 * 60 * 1_000;

/** The highest id. */
const MAX_ID = '9223372036854775807';

/** A place among the records of a destination, in their order. */
interface Place {
  destination: string;
  ended_at: number | string;
  id: string;
}

/** Removes records past their retention, a portion at a time. Rows that another process is removing are skipped. */
export class RetentionSweep {
  private readonly delivery = `${this.database.schema}.relay_delivery`;
  private readonly seen = `${this.database.schema}.relay_seen`;

  constructor(private readonly database: LongStatements) {}

  async run(retention: Retention, now: number): Promise<SweptRecords> {
    const swept: SweptRecords = { removed: 0, surplus: [] };
    await foldCounts(this.database);
    for (const state of ENDED_STATES) await this.removeEnded(state, boundOf(retention, state), now, swept);
    await this.forget(now);
    return swept;
  }

  private async removeEnded(
    state: EndedState,
    bound: Required<DeliveredBound>,
    now: number,
    swept: SweptRecords,
  ): Promise<void> {
    const { database } = this;
    const all = await readCounts(database, state);
    const old = await this.remove(
      state,
      all.map(({ destination }) => ({ destination: encodeText(destination), ended_at: now - bound.age, id: MAX_ID })),
    );
    for (const count of old.values()) swept.removed += count;
    const limited = limitFairly(old.size > 0 ? await readCounts(database, state) : all, bound);
    if (limited.length === 0) return;
    // A place among the records, which is found with their number: another process may sweep at the same time.
    const places = await database.query<Place>(
      `SELECT k.destination, place.ended_at, place.id FROM unnest($1::text[], $2::bigint[]) AS k (destination, kept)
         JOIN (${countsIn(database.schema, state)}) c USING (destination),
         LATERAL (
           SELECT ended_at, id FROM ${this.delivery} d WHERE state = '${state}' AND d.destination = k.destination
           ORDER BY ended_at, id OFFSET greatest(c.count - k.kept - 1, 0)::bigint LIMIT 1) place
       WHERE c.count > k.kept`,
      [limited.map(({ destination }) => encodeText(destination)), limited.map(({ kept }) => kept)],
    );
    for (const [destination, count] of await this.remove(state, places)) {
      swept.removed += count;
      swept.surplus.push({ destination, state, count });
    }
  }

  /** Removes the records of destinations up to a place each; resolves with their number by destination. */
  private async remove(state: EndedState, places: Place[]): Promise<Map<string, number>> {
    const removed = new Map<string, number>();
    if (places.length === 0) return removed;
    await this.database.repeat<{ destination: string }>(
      `WITH past AS MATERIALIZED (
         SELECT found.id FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS p (destination, ended_at, id),
           LATERAL (
             SELECT d.id FROM ${this.delivery} d
             WHERE state = '${state}' AND d.destination = p.destination AND (d.ended_at, d.id) <= (p.ended_at, p.id)
             ORDER BY d.ended_at, d.id LIMIT ${PORTION} FOR UPDATE SKIP LOCKED) found
         LIMIT ${PORTION}),
       removed AS (
         DELETE FROM ${this.delivery} d USING past WHERE d.id = past.id RETURNING ${counted('d')}),
       counted AS (${addCounts(this.database.schema, 'removed', '-')})
       SELECT destination FROM removed`,
      [places.map(({ destination }) => destination), places.map((place) => place.ended_at), places.map(({ id }) => id)],
      (rows) => {
        for (const row of rows) {
          const destination = decodeText(row.destination);
          removed.set(destination, (removed.get(destination) ?? 0) + 1);
        }
      },
    );
    return removed;
  }

  /** Forgets messages past their retention, unless their records still exist. */
  private async forget(now: number): Promise<void> {
    await this.database.repeat(
      `WITH past AS MATERIALIZED (
         SELECT key, EXISTS (SELECT FROM ${this.delivery} d WHERE d.id = s.delivery) AS is_kept FROM ${this.seen} s
         WHERE until_ms <= $1::bigint ORDER BY until_ms LIMIT ${PORTION} FOR UPDATE SKIP LOCKED),
       kept AS (
         UPDATE ${this.seen} s SET until_ms = $1::bigint + ${EXTENSION} FROM past WHERE s.key = past.key AND is_kept),
       forgotten AS (DELETE FROM ${this.seen} s USING past WHERE s.key = past.key AND NOT is_kept)
       SELECT 1 FROM past`,
      [now],
    );
  }
}
