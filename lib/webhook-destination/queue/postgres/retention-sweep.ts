import type { Retention, RetentionBound } from '../retention.options.js';
import type { LongStatements } from './long-statements.js';
import { PORTION } from './statement-runner.js';

/** How much longer a message is remembered if its record still exists, in ms: an hour at a time. */
const EXTENSION = 60 * 60 * 1_000;

/** Removes records past their retention, a portion at a time. Rows that another process is removing are skipped. */
export class RetentionSweep {
  private readonly delivery = `${this.database.schema}.relay_delivery`;
  private readonly seen = `${this.database.schema}.relay_seen`;

  constructor(private readonly database: LongStatements) {}

  /** Resolves with the number of records that were removed. */
  async run(retention: Retention, now: number): Promise<number> {
    let count = 0;
    for (const state of ['delivered', 'dead'] as const) count += await this.removeEnded(state, retention[state], now);
    await this.forget(now);
    return count;
  }

  private async removeEnded(
    state: 'delivered' | 'dead',
    { age, count }: Required<RetentionBound>,
    now: number,
  ): Promise<number> {
    const isEnded = `state = '${state}'`;
    // The newest record that exceeds `count`.
    const [surplus] = await this.database.query<{ ended_at: string; id: string }>(
      `SELECT ended_at, id FROM ${this.delivery} WHERE ${isEnded} ORDER BY state DESC, ended_at DESC, id DESC
       OFFSET $1::bigint LIMIT 1`,
      [count],
    );
    return this.database.repeat(
      `WITH past AS MATERIALIZED (
         SELECT id FROM ${this.delivery}
         WHERE ${isEnded} AND (ended_at <= $1::bigint OR (ended_at, id) <= ($2::bigint, $3::bigint))
         ORDER BY state, ended_at, id LIMIT ${PORTION} FOR UPDATE SKIP LOCKED)
       DELETE FROM ${this.delivery} d USING past WHERE d.id = past.id RETURNING 1`,
      [now - age, surplus?.ended_at ?? 0, surplus?.id ?? 0],
    );
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
