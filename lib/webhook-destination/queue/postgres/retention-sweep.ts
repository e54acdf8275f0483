import type { Retention, RetentionBound } from '../retention.options.js';
import type { PostgresDatabase } from './postgres.database.js';

/** Rows removed with one statement. */
const PORTION = 1_000;

/** How much longer a message is remembered if its record still exists, in ms: an hour at a time. */
const EXTENSION = 60 * 60 * 1_000;

/** Removes records past their retention, a portion at a time. Rows that another process is removing are skipped. */
export class RetentionSweep {
  private readonly delivery: string;
  private readonly seen: string;

  constructor(private readonly database: PostgresDatabase) {
    this.delivery = `${database.schema}.relay_delivery`;
    this.seen = `${database.schema}.relay_seen`;
  }

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
    let removed = 0;
    for (;;) {
      const rows = await this.database.query(
        `WITH past AS MATERIALIZED (
           SELECT id FROM ${this.delivery}
           WHERE ${isEnded} AND (ended_at <= $1::bigint OR (ended_at, id) <= ($2::bigint, $3::bigint))
           ORDER BY state, ended_at, id LIMIT $4::int FOR UPDATE SKIP LOCKED)
         DELETE FROM ${this.delivery} d USING past WHERE d.id = past.id RETURNING 1`,
        [now - age, surplus?.ended_at ?? 0, surplus?.id ?? 0, PORTION],
      );
      removed += rows.length;
      if (rows.length < PORTION) return removed;
    }
  }

  /** Forgets messages past their retention, unless their records still exist. */
  private async forget(now: number): Promise<void> {
    const past = `
      SELECT key, EXISTS (SELECT FROM ${this.delivery} d WHERE d.id = s.delivery) AS is_kept FROM ${this.seen} s
      WHERE until_ms <= $1::bigint ORDER BY until_ms LIMIT ${PORTION} FOR UPDATE SKIP LOCKED`;
    for (;;) {
      const [done] = await this.database.query<{ count: number }>(
        `WITH past AS MATERIALIZED (${past}),
         kept AS (
           UPDATE ${this.seen} s SET until_ms = $1::bigint + ${EXTENSION} FROM past WHERE s.key = past.key AND is_kept
           RETURNING 1),
         forgotten AS (DELETE FROM ${this.seen} s USING past WHERE s.key = past.key AND NOT is_kept RETURNING 1)
         SELECT ((SELECT count(*) FROM kept) + (SELECT count(*) FROM forgotten))::float8 AS count`,
        [now],
      );
      if (done!.count < PORTION) return;
    }
  }
}
