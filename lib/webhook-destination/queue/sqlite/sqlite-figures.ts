import type Database from 'libsql';

import type { DeliveryCount, OldestDelivery } from '../delivery-queue.interface.js';

/** States of a batch, with the states of its open deliveries. */
const OPEN_STATES = { q: 'queued', r: 'waiting', l: 'delivering' } as const;

interface BatchSum {
  destination: string;
  state: keyof typeof OPEN_STATES;
  open: number;
  delivered: number;
}

/** Finds each destination with one index lookup, however many deliveries it has. */
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
  SELECT destination, min(acceptedAt) AS acceptedAt FROM (
    SELECT destination, (
      SELECT accepted_at FROM batch AS b
      WHERE b.destination = batched.destination AND b.state = column1 ORDER BY id LIMIT 1) AS acceptedAt
    FROM batched, (VALUES ('q'), ('r'))
    UNION ALL
    SELECT destination, (
      SELECT accepted_at FROM delivery AS d
      WHERE d.state = alone.state AND d.destination = alone.destination ORDER BY id LIMIT 1)
    FROM alone)
  WHERE acceptedAt IS NOT NULL GROUP BY destination`;

/** Counts deliveries, and finds the oldest open ones. */
export class SqliteFigures {
  private readonly statements;

  constructor(db: Database.Database) {
    this.statements = {
      rows: db.prepare('SELECT destination, state, count(*) AS count FROM delivery GROUP BY state, destination'),
      batches: db.prepare(
        `SELECT destination, state, total(delivered) AS delivered,
           sum(iif(open IS 0, 0, size - ifnull(delivered + gone, 0))) AS open
         FROM batch LEFT JOIN outcome ON batch = id GROUP BY destination, state`,
      ),
      oldest: db.prepare(OLDEST),
    };
  }

  counts(): DeliveryCount[] {
    const sums = new Map<string, DeliveryCount>();
    const add = (destination: string, state: DeliveryCount['state'], count: number) => {
      if (count === 0) return;
      const key = `${state} ${destination}`;
      const sum = sums.get(key);
      if (sum) sum.count += count;
      else sums.set(key, { destination, state, count });
    };
    for (const { destination, state, count } of this.statements.rows.all() as DeliveryCount[])
      add(destination, state, count);
    for (const { destination, state, open, delivered } of this.statements.batches.all() as BatchSum[]) {
      add(destination, OPEN_STATES[state], open);
      add(destination, 'delivered', delivered);
    }
    return [...sums.values()];
  }

  /** Returns the oldest queued or waiting delivery of each destination that has one. */
  oldest(): OldestDelivery[] {
    return this.statements.oldest.all() as OldestDelivery[];
  }
}
