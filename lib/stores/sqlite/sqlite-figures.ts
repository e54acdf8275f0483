import type { SqliteConnection } from './sqlite.connection.js';

import type { DeliveryCount, OldestDelivery } from '../../webhook-destination/queue/delivery.interface.js';

/** Counts rows of `delivery`, and what batches hold besides: deliveries that are open, and that were delivered. */
const COUNTS = `
  WITH batched AS MATERIALIZED (
    SELECT destination, state, sum(delivered) AS delivered,
      sum(iif(open IS 0, 0, size - ifnull(delivered + gone, 0))) AS open
    FROM batch LEFT JOIN outcome ON batch = id GROUP BY destination, state)
  SELECT destination, state, sum(count) AS count FROM (
    SELECT destination, state, count(*) AS count FROM delivery GROUP BY state, destination
    UNION ALL
    SELECT destination, CASE state WHEN 'q' THEN 'queued' WHEN 'r' THEN 'waiting' ELSE 'delivering' END, open
    FROM batched
    UNION ALL
    SELECT destination, 'delivered', delivered FROM batched)
  GROUP BY state, destination HAVING sum(count) > 0`;

/**
 * Finds each destination, and its deliveries that are oldest and due first, with index lookups, however many deliveries
 * it has. Deliveries of a batch are due from their acceptance.
 */
const OLDEST = `
  WITH RECURSIVE
    batched (destination) AS (
      SELECT min(destination) FROM batch
      UNION ALL
      SELECT (SELECT min(b.destination) FROM batch AS b WHERE b.destination > batched.destination)
      FROM batched WHERE destination IS NOT NULL),
    alone (state, destination) AS (
      SELECT column1, (SELECT min(destination) FROM delivery WHERE state = column1)
      FROM (VALUES ('queued'), ('waiting'))
      UNION ALL
      SELECT state, (
        SELECT min(d.destination) FROM delivery AS d
        WHERE d.state = alone.state AND d.destination > alone.destination)
      FROM alone WHERE destination IS NOT NULL)
  SELECT destination, min(acceptedAt) AS acceptedAt, min(ifnull(dueAt, acceptedAt)) AS dueAt FROM (
    SELECT destination, (
      SELECT accepted_at FROM batch AS b
      WHERE b.destination = batched.destination AND b.state = column1 ORDER BY id LIMIT 1) AS acceptedAt, NULL AS dueAt
    FROM batched, (VALUES ('q'), ('r'))
    UNION ALL
    SELECT destination, (
      SELECT accepted_at FROM delivery AS d
      WHERE d.state = alone.state AND d.destination = alone.destination ORDER BY id LIMIT 1), (
      SELECT min(due_at) FROM delivery AS d
      WHERE d.destination = alone.destination AND d.state IN ('queued', 'waiting'))
    FROM alone)
  WHERE acceptedAt IS NOT NULL GROUP BY destination`;

export class SqliteFigures {
  private readonly statements = {
    counts: this.db.prepare(COUNTS),
    oldest: this.db.prepare(OLDEST),
  };

  constructor(private readonly db: SqliteConnection) {}

  counts(): DeliveryCount[] {
    return this.statements.counts.all() as DeliveryCount[];
  }

  /** As `DeliveryQueue.oldest`. */
  oldest(): OldestDelivery[] {
    return this.statements.oldest.all() as OldestDelivery[];
  }
}
