import { DELIVERY_COLUMNS } from './delivery.codec.js';
import { addCounts, counted } from './record-counts.js';

/*
 * A statement that locks many rows skips locked rows (SKIP LOCKED), so it seldom waits for another one while it holds
 * locks. `settle` waits, and so does the acceptance of a repeated message, which locks keys in their order within a
 * statement. Deadlocks remain possible: of a claim with a `settle` of a row that changes just then, and of two batches of
 * several statements that repeat the same messages. PostgreSQL then ends one of the two, and `PostgresDatabase` repeats
 * it.
 */

const isOpen = `state IN ('queued', 'waiting')`;

export type DeliveryStatements = ReturnType<typeof deliveryStatements>;

/**
 * Returns the statements that each delivery goes through.
 *
 * @param schema quoted
 */
export function deliveryStatements(schema: string) {
  const delivery = `${schema}.relay_delivery`;
  const seen = `${schema}.relay_seen`;

  const insertWith = (lists: string, names: string, columns: string, values: string, further = '') => `
    WITH given AS MATERIALIZED (
      SELECT nextval('${schema}.relay_delivery_id') AS id, g.*
      FROM unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::int[], $12::int[],
        $13::text[], $14::text[], $15::text[], $16::text[], ${lists}) WITH ORDINALITY
        AS g(key, destination, source, message_id, user_id, accepted_at, start, size, trace, recorded_by, search_keys, release, ${names}, place)
    ), fresh AS (
      INSERT INTO ${seen} (key, delivery, until_ms)
      SELECT key, id, $3::bigint FROM given WHERE key IS NOT NULL ORDER BY key
      ON CONFLICT DO NOTHING
      RETURNING delivery
    ), ${further} stored AS (
      INSERT INTO ${delivery} (id, destination, source, message_id, user_id, body, accepted_at, trace, recorded_by, search_keys,
        release, ${columns})
      SELECT id, destination, source, message_id, user_id, substring($4::bytea FROM start FOR size), accepted_at, trace,
        recorded_by, search_keys::bigint[], release, ${values}
      FROM given WHERE key IS NULL OR id IN (SELECT delivery FROM fresh)
      RETURNING id
    )
    SELECT coalesce(json_agg(id::text ORDER BY id), '[]') AS ids, coalesce(json_agg(place - 1 ORDER BY id), '[]') AS places
    FROM stored JOIN given USING (id)`;

  return {
    /**
     * Stores deliveries whose message is not remembered. Parameters: lease mark, now, until, bodies, then lists with an
     * element for each delivery. Returns one row: `ids` and `places`, counted from 0, of those stored, in list order.
     */
    insert: {
      name: 'relay_insert',
      text: insertWith(
        '$17::boolean[]',
        'leased',
        'due_at, state, lease, leased_at',
        `accepted_at, CASE WHEN leased THEN 'delivering' ELSE 'queued' END, CASE WHEN leased THEN $1::bigint END,
        CASE WHEN leased THEN $2::bigint END`,
      ),
    },
    /**
     * As `insert`, for deliveries from another queue. Those stored before are skipped, by a key of the delivery; the key
     * of its message is in a further list.
     */
    take: {
      name: 'relay_take',
      text: insertWith(
        '$17::bigint[], $18::bigint[], $19::text[], $20::text[], $21::uuid[]',
        'due_at, first_attempt_at, attempts, failed_urls, message_key',
        'lease, due_at, first_attempt_at, attempts, failed_urls, state',
        `$1::bigint, coalesce(due_at, accepted_at), first_attempt_at, attempts, failed_urls,
        CASE WHEN due_at > $2::bigint THEN 'waiting' ELSE 'queued' END`,
        `remembered AS (
          INSERT INTO ${seen} (key, delivery, until_ms)
          SELECT message_key, id, $3::bigint FROM given WHERE id IN (SELECT delivery FROM fresh) ORDER BY message_key
          ON CONFLICT DO NOTHING
        ),`,
      ),
    },
    /** Finds remembered messages. Parameter: a list of keys. Returns one row: `places` of those found, from 0. */
    remembers: {
      name: 'relay_remembers',
      text: `
        SELECT coalesce(json_agg(place - 1 ORDER BY place), '[]') AS places
        FROM unnest($1::uuid[]) WITH ORDINALITY AS g(key, place) JOIN ${seen} USING (key)`,
    },
    /** Leases due deliveries. Parameters: now, lease mark, then lists with an element for each destination. */
    claim: {
      name: 'relay_claim',
      text: `
        WITH wanted AS MATERIALIZED (
          SELECT * FROM unnest($3::text[], $4::int[], $5::float8[], $6::bigint[]) WITH ORDINALITY
            AS w(destination, room, bytes, due_from, place)
        ), due AS MATERIALIZED (
          SELECT w.place, w.bytes, d.* FROM wanted w CROSS JOIN LATERAL (
            SELECT id, due_at, octet_length(body) AS size FROM ${delivery}
            WHERE destination = w.destination AND ${isOpen} AND due_at BETWEEN w.due_from AND $1::bigint
            ORDER BY due_at, id LIMIT w.room FOR UPDATE SKIP LOCKED) d
        ), taken AS (
          UPDATE ${delivery} d SET state = 'delivering', lease = $2::bigint, leased_at = $1::bigint
          FROM (SELECT id, place, bytes, sum(size) OVER (PARTITION BY place ORDER BY due_at, id) - size AS before FROM due) w
          WHERE d.id = w.id AND w.before < w.bytes
          RETURNING w.place AS claim, d.due_at, ${DELIVERY_COLUMNS.replace(/^id/, 'd.id')}
        ), next AS MATERIALIZED (
          SELECT place, (
            SELECT due_at FROM ${delivery} WHERE destination = w.destination AND ${isOpen} AND due_at > $1::bigint
            ORDER BY due_at LIMIT 1)::float8 AS next_due_at
          FROM wanted w
        )
        SELECT next.place::int, next_due_at, taken.* FROM next LEFT JOIN taken ON claim = place ORDER BY place, due_at, taken.id`,
    },
    /** Records outcomes. Parameters: lease mark, now, lists. Returns one row: `ids` of those leased with the mark. */
    settle: {
      name: 'relay_settle',
      text: `
        WITH settled AS (
          UPDATE ${delivery} d
          SET state = g.state, due_at = coalesce(g.due_at, d.due_at), first_attempt_at = g.first_attempt_at,
            attempts = g.attempts, failed_urls = g.failed_urls, reason = g.reason, lease = NULL, leased_at = NULL,
            ended_at = CASE WHEN g.state IN ('delivered', 'dead') THEN $2::bigint END
          FROM unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[])
            AS g(id, state, due_at, first_attempt_at, attempts, failed_urls, reason)
          WHERE d.id = g.id AND d.lease = $1::bigint AND d.state = 'delivering'
          RETURNING d.id, ${counted('d')}
        ), counted AS (${addCounts(schema, 'settled', '')})
        SELECT coalesce(json_agg(id::text), '[]') AS ids FROM settled`,
    },
  };
}
