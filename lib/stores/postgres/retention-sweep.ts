import type { SweptRecords } from '../../webhook-destination/queue/delivery.interface.js';
import { limitFairly } from '../../webhook-destination/queue/retention-bound.util.js';
import type { Retention, RetentionBound } from '../../webhook-destination/queue/retention.options.js';
import { decodeText } from './delivery.codec.js';
import type { LongStatements } from './long-statements.js';
import { PORTION } from './statement-runner.js';

/** How much longer a message is remembered if its record still exists, in ms: an hour at a time. */
const EXTENSION = 60 * 60 * 1_000;

/** The highest id. */
const MAX_ID = '9223372036854775807';

/** Removes records past their retention, a portion at a time. Rows that another process is removing are skipped. */
export class RetentionSweep {
  private readonly delivery = `${this.database.schema}.relay_delivery`;
  private readonly seen = `${this.database.schema}.relay_seen`;

  constructor(private readonly database: LongStatements) {}

  async run(retention: Retention, now: number): Promise<SweptRecords> {
    const swept: SweptRecords = { removed: 0, surplus: [] };
    for (const state of ['delivered', 'dead'] as const) await this.removeEnded(state, retention[state], now, swept);
    await this.forget(now);
    return swept;
  }

  private async removeEnded(
    state: 'delivered' | 'dead',
    { age, count }: Required<RetentionBound>,
    now: number,
    swept: SweptRecords,
  ): Promise<void> {
    const ended = `FROM ${this.delivery} d WHERE state = '${state}'`;
    const latest = `ORDER BY ended_at DESC, id DESC`;
    const counts = await this.database.query<{ destination: string; old: number; count: number }>(
      `SELECT destination, count(*) FILTER (WHERE ended_at <= $1::bigint)::float8 AS old,
         count(*) FILTER (WHERE ended_at > $1::bigint)::float8 AS count
       ${ended} GROUP BY destination`,
      [now - age],
    );
    const limited = limitFairly(counts, count);
    const past = counts.filter(({ old }) => old > 0);
    if (limited.length === 0 && past.length === 0) return;
    // A place among the records, not a number of them: another process may sweep at the same time.
    const places = await this.database.query<{ destination: string; ended_at: string; id: string }>(
      `SELECT k.destination, place.ended_at, place.id FROM unnest($1::text[], $2::bigint[]) AS k (destination, kept),
         LATERAL (SELECT ended_at, id ${ended} AND d.destination = k.destination ${latest} OFFSET k.kept LIMIT 1) place`,
      [limited.map(({ destination }) => destination), limited.map(({ kept }) => kept)],
    );
    for (const { destination } of past) {
      if (places.some((place) => place.destination === destination)) continue;
      places.push({ destination, ended_at: String(now - age), id: MAX_ID });
    }
    const removed = new Map<string, number>();
    swept.removed += await this.database.repeat<{ destination: string }>(
      `WITH past AS MATERIALIZED (
         SELECT found.id FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS p (destination, ended_at, id),
           LATERAL (
             SELECT d.id ${ended} AND d.destination = p.destination AND (d.ended_at, d.id) <= (p.ended_at, p.id)
             ORDER BY d.ended_at, d.id LIMIT ${PORTION} FOR UPDATE SKIP LOCKED) found
         LIMIT ${PORTION})
       DELETE FROM ${this.delivery} d USING past WHERE d.id = past.id RETURNING d.destination`,
      [places.map(({ destination }) => destination), places.map((place) => place.ended_at), places.map(({ id }) => id)],
      (rows) => {
        for (const { destination } of rows) removed.set(destination, (removed.get(destination) ?? 0) + 1);
      },
    );
    for (const { destination, old } of counts) {
      const surplus = (removed.get(destination) ?? 0) - old;
      if (surplus > 0) swept.surplus.push({ destination: decodeText(destination), state, count: surplus });
    }
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
