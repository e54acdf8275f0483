import {
  type PurgedSource,
  type DeliveryCount,
  type DeliveryRecord,
  type DeliveryState,
  type KeptSince,
  NOTICE_START,
  type OldestDelivery,
} from '../../webhook-destination/queue/delivery.interface.js';
import type { CheckedPage, CheckedQuery } from '../../webhook-destination/queue/query.util.js';
import type { ReplayQuery } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { DELIVERY_COLUMNS, decodeText, encodeText, type RecordRow, toRecord } from './delivery.codec.js';
import type { LongStatements } from './long-statements.js';
import { addCounts, counted } from './record-counts.js';
import { isId, toConditions } from './query-conditions.js';
import { PORTION } from './statement-runner.js';

/** Rows scanned with one statement where no index finds the matching rows. */
const WALKED = 20_000;

/** Newest deliveries that are counted to know whether many have a key, and how many have it then. */
const PROBED = 2_000;
const MANY = 20;

/** Open deliveries of a destination among which the oldest is found. */
const LOOKED_AT = 1_000;

/** Wait before a purge tries again to lock rows that another transaction has locked, in ms. */
const LOCK_WAIT = 200;

/** SQL of deliveries that are not replayed at the time $1. */
const NOT_REPLAYED = 'first_attempt_at IS DISTINCT FROM $1::bigint';

/** SQL that replays ended deliveries at the time $1. */
const REPLAYED = `state = 'queued', due_at = $1::bigint, first_attempt_at = $1::bigint, failed_urls = NULL, reason = NULL,
  ended_at = NULL`;

/** SQL that makes waiting deliveries due at the time $1. */
const TRIED_NOW = 'due_at = least(due_at, $1::bigint)';

/** SQL for `isOpenNotice`. */
const OPEN_NOTICE = `state IN ('queued', 'delivering', 'waiting')
  AND substring(body FROM 1 FOR ${NOTICE_START.length}) = '${NOTICE_START}'::bytea`;

/** Reads and changes deliveries that match a query, leased or not. */
export class DeliveryRecords {
  private readonly table = `${this.database.schema}.relay_delivery`;

  constructor(private readonly database: LongStatements) {}

  /** @param keys keys that the deliveries have */
  async list(
    query: CheckedQuery,
    { limit, after, isBodiless = false }: CheckedPage,
    keys: readonly number[] = [],
  ): Promise<DeliveryRecord[]> {
    const conditions = toConditions(query, [limit, after ?? null], keys);
    if (!conditions || (after !== undefined && !isId(after))) return [];
    // The planner has no statistics of rare keys, and would read the whole table in the order of ids.
    const order = keys.length > 0 && !(await this.areFrequent(keys, after)) ? 'id + 0' : 'id';
    const rows = await this.database.query<RecordRow>(
      `SELECT ${isBodiless ? DELIVERY_COLUMNS.replace('body', "''::bytea AS body") : DELIVERY_COLUMNS}, state, due_at::float8, reason FROM ${this.table}
       WHERE ($2::bigint IS NULL OR id < $2::bigint) AND ${conditions.text} ORDER BY ${order} DESC LIMIT $1::bigint`,
      conditions.values,
    );
    return rows.map(toRecord);
  }

  /** Skips open deliveries of destinations in `except`, but reads all that are leased. */
  async counts(except: readonly string[]): Promise<DeliveryCount[]> {
    const rows = await this.database.query<{ destination: string; state: DeliveryState; count: number }>(
      `${this.withNames}
       SELECT destination, counted.* FROM names, LATERAL (
         SELECT state, count(*)::float8 FROM ${this.table}
         WHERE destination = names.destination AND state IN ('queued', 'waiting') GROUP BY state) counted
       WHERE destination <> ALL ($1::text[])
       UNION ALL
       SELECT destination, state, count(*)::float8 FROM ${this.table}
       WHERE state = 'delivering' AND destination <> ALL ($1::text[]) GROUP BY destination, state
       UNION ALL
       SELECT destination, state, sum(count)::float8 FROM ${this.database.schema}.relay_count
       WHERE destination <> ALL ($1::text[]) GROUP BY destination, state HAVING sum(count) > 0`,
      [except.map(encodeText)],
    );
    return rows.map((row) => ({ ...row, destination: decodeText(row.destination) }));
  }

  /** Considers only those deliveries of each destination that are due first: there may be millions. */
  async oldest(): Promise<OldestDelivery[]> {
    const rows = await this.database.query<OldestDelivery>(
      `${this.withNames}
       SELECT destination, found.* FROM names, LATERAL (
         SELECT min(accepted_at)::float8 AS "acceptedAt", min(due_at)::float8 AS "dueAt" FROM (
           SELECT accepted_at, due_at FROM ${this.table}
           WHERE destination = names.destination AND state IN ('queued', 'waiting')
           ORDER BY due_at, id LIMIT ${LOOKED_AT}) due) found`,
    );
    return rows.map((row) => ({ ...row, destination: decodeText(row.destination) }));
  }

  /** Finds the first record of each destination that has delivered ones, with two index lookups for each. */
  async keptSince(): Promise<KeptSince[]> {
    const first = (which: string) =>
      `SELECT destination, ended_at FROM ${this.table} WHERE state = 'delivered' ${which}
       ORDER BY destination, ended_at LIMIT 1`;
    const rows = await this.database.query<KeptSince>(
      `WITH RECURSIVE found AS (
         (${first('')}) UNION ALL
         SELECT next.* FROM found, LATERAL (${first('AND destination > found.destination')}) next)
       SELECT destination, ended_at::float8 AS since FROM found`,
    );
    return rows.map((row) => ({ ...row, destination: decodeText(row.destination) }));
  }

  /**
   * Makes deliveries due, in portions; resolves with the destination of each. Each is replayed once, even if it dies
   * again meanwhile: its retry window then began with this replay. The time of a death would not tell, because the
   * server's clock may have been set back since.
   */
  async replay(query: ReplayQuery, now: number): Promise<string[]> {
    const conditions = toConditions(query, [now]);
    if (!conditions) return [];
    const [condition, changes] = query.state === 'waiting' ? ['true', TRIED_NOW] : [NOT_REPLAYED, REPLAYED];
    const replayed: string[] = [];
    await this.database.repeat<{ destination: string }>(
      `WITH found AS MATERIALIZED (
         SELECT id, ${counted(this.table)} FROM ${this.table}
         WHERE ${conditions.text} AND ${condition} LIMIT ${PORTION} FOR UPDATE SKIP LOCKED),
       counted AS (${addCounts(this.database.schema, 'found', '-')})
       UPDATE ${this.table} d SET ${changes} FROM found WHERE d.id = found.id RETURNING d.destination`,
      conditions.values,
      (rows) => replayed.push(...rows.map(({ destination }) => decodeText(destination))),
    );
    return replayed;
  }

  /** Makes open deliveries of a destination due; resolves with the number of those not due before. */
  expedite(destination: string, now: number): Promise<number> {
    return this.database.repeat(
      `WITH found AS MATERIALIZED (
         SELECT id FROM ${this.table}
         WHERE destination = $1 AND state IN ('queued', 'waiting') AND due_at > $2::bigint LIMIT ${PORTION}
         FOR UPDATE SKIP LOCKED)
       UPDATE ${this.table} d SET due_at = $2::bigint FROM found WHERE d.id = found.id RETURNING 1`,
      [encodeText(destination), now],
    );
  }

  /**
   * Removes matching deliveries, a portion of the table at a time, as `DeliveryStore.purge`.
   *
   * @param onLeased receives the ids of removed deliveries that were leased
   */
  async purge(
    query: CheckedQuery,
    keepsNotices: boolean,
    onLeased: (ids: string[]) => Promise<void>,
  ): Promise<PurgedSource[]> {
    const kept = keepsNotices ? OPEN_NOTICE : 'false';
    const purged: PurgedSource[] = [];
    for (let after: string | undefined = '0'; after !== undefined;) {
      const [end]: { id: string }[] = await this.database.query(
        `SELECT id FROM ${this.table} WHERE id > $1::bigint ORDER BY id OFFSET ${WALKED - 1} LIMIT 1`,
        [after],
      );
      const conditions = toConditions(query, [after, end?.id ?? null]);
      if (!conditions) return [];
      const which = `id > $1::bigint AND ($2::bigint IS NULL OR id <= $2::bigint) AND ${conditions.text} AND NOT (${kept})`;
      const removed = await this.database.query<Pick<DeliveryRecord, 'id' | 'state' | 'source'>>(
        `WITH found AS MATERIALIZED (SELECT id FROM ${this.table} WHERE ${which} FOR UPDATE SKIP LOCKED),
         removed AS (
           DELETE FROM ${this.table} d USING found WHERE d.id = found.id RETURNING d.id, d.source, ${counted('d')}),
         counted AS (${addCounts(this.database.schema, 'removed', '-')})
         SELECT id, state, source FROM removed`,
        conditions.values,
      );
      const left = await this.database.query(`SELECT 1 FROM ${this.table} WHERE ${which} LIMIT 1`, conditions.values);
      purged.push(...removed.map(({ source }) => ({ source: decodeText(source), count: 1 })));
      await onLeased(removed.filter(({ state }) => state === 'delivering').map(({ id }) => id));
      if (left.length === 0) after = end?.id;
      else await this.database.pause(LOCK_WAIT); // another transaction has locked them
    }
    return purged;
  }

  /** Whether many of the next deliveries have these keys, so that they are found in the order of ids. */
  private async areFrequent(keys: readonly number[], after: string | undefined): Promise<boolean> {
    const [row] = await this.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM (
         SELECT search_keys FROM ${this.table} WHERE $2::bigint IS NULL OR id < $2::bigint
         ORDER BY id DESC LIMIT ${PROBED}) newest
       WHERE search_keys @> $1::bigint[]`,
      [keys, after ?? null],
    );
    return row!.count >= MANY;
  }

  /** SQL for the destinations that have open deliveries, as `names`, with one index lookup for each. */
  private get withNames(): string {
    const next = (which: string) =>
      `SELECT destination FROM ${this.table} WHERE state IN ('queued', 'waiting') ${which} ORDER BY destination LIMIT 1`;
    return `WITH RECURSIVE names AS (
      (${next('')}) UNION ALL
      SELECT next.* FROM names, LATERAL (${next('AND destination > names.destination')}) next)`;
  }
}
