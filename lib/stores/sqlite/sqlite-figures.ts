import type { SqliteConnection } from './sqlite.connection.js';

import type { DeliveryCount, KeptSince, OldestDelivery } from '../../webhook-destination/queue/delivery.interface.js';

const COUNTS = `
  SELECT destination, CASE state WHEN 'q' THEN 'queued' WHEN 'r' THEN 'waiting' WHEN 'l' THEN 'delivering' ELSE state END AS state,
    sum(count) AS count
  FROM counted GROUP BY 1, 2 HAVING sum(count) > 0`;

/** Finds the first record of each destination that has delivered ones, in rows of its own and in batches. */
const KEPT_SINCE = `
  SELECT destination, min(ifnull(own, batched), ifnull(batched, own)) AS since FROM (
    SELECT destination, (
      SELECT min(ended_at) FROM delivery AS d
      WHERE d.state = 'delivered' AND d.destination = c.destination AND ended_at IS NOT NULL) AS own, (
      SELECT min(ended_at) FROM outcome AS o
      WHERE o.destination = c.destination AND open = 0 AND delivered > 0) AS batched
    FROM counted AS c WHERE state = 'delivered' AND count > 0)
  WHERE own IS NOT NULL OR batched IS NOT NULL`;

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
    keptSince: this.db.prepare(KEPT_SINCE),
  };

  constructor(private readonly db: SqliteConnection) {}

  counts(): DeliveryCount[] {
    return this.statements.counts.all() as DeliveryCount[];
  }

  /** As `DeliveryQueue.oldest`. */
  oldest(): OldestDelivery[] {
    return this.statements.oldest.all() as OldestDelivery[];
  }

  /** As `DeliveryQueue.keptSince`. */
  keptSince(): KeptSince[] {
    return this.statements.keptSince.all() as KeptSince[];
  }
}
