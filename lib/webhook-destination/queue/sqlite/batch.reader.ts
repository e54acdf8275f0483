import type Database from 'libsql';

import { type BatchItem, decodeBodies, decodeItems, decodeOutcomes, unpackBodies } from './batch.codec.js';
import { BATCH_SLOTS, toPositions } from './batch-id.js';
import type { DeliveryRow, WholeDeliveryRow } from './sqlite.rows.js';

/** A batch with its outcomes, but without its bodies, as read from the file. */
export interface BatchHead {
  id: number;
  destination: string;
  source: string;
  state: 'q' | 'r' | 'l';
  accepted_at: number;
  leased_at: number;
  items: string;
  /** Null until a delivery has an outcome. */
  open: number | null;
  entries: string | null;
}

/** The state of a delivery without outcome by that of its batch. */
const STATES = { q: 'queued', r: 'waiting', l: 'delivering' } as const;

/** Reads what batches hold. */
export class BatchReader {
  private readonly statements;

  constructor(db: Database.Database) {
    this.statements = {
      head: db.prepare(
        `SELECT id, destination, source, state, accepted_at, leased_at, items, open, entries
         FROM batch LEFT JOIN outcome ON batch = id WHERE id = ?`,
      ),
      items: db.prepare('SELECT items FROM batch WHERE id = ?'),
      bodies: db.prepare('SELECT bodies FROM batch WHERE id = ?'),
    };
  }

  head(batch: number): BatchHead | undefined {
    return this.statements.head.get(batch) as BatchHead | undefined;
  }

  /** The bodies of a batch that is there, one after the other. */
  bodies(batch: number, items: BatchItem[]): Uint8Array {
    return unpackBodies(items, this.stored(batch));
  }

  /** The same as they are stored. */
  stored(batch: number): Uint8Array {
    return (this.statements.bodies.get(batch) as { bodies: Uint8Array }).bodies;
  }

  /** The rows, each with its body. A batch is read once for all of its rows: where many are retried, they come mixed. */
  withBodies(rows: DeliveryRow[]): WholeDeliveryRow[] {
    const found = new Map<number, Uint8Array>();
    for (const [batch, positions] of toPositions(rows.map(({ id }) => id))) {
      const items = decodeItems((this.statements.items.get(batch) as { items: string }).items);
      const bodies = decodeBodies(items, this.bodies(batch, items));
      // In memory of its own: a part would reach the other thread with all of the batch.
      for (const position of positions) found.set(batch * BATCH_SLOTS + position, new Uint8Array(bodies[position]!));
    }
    return rows.map((row) => ({ ...row, body: found.get(row.id)! }));
  }
}

/** The deliveries of a batch that have no row of their own. */
export function toRows({ id, destination, source, state, ...batch }: BatchHead): DeliveryRow[] {
  const { accepted_at: acceptedAt, leased_at: leasedAt } = batch;
  const outcomes = new Map(decodeOutcomes(batch.entries).map((outcome) => [outcome[0], outcome]));
  return decodeItems(batch.items).flatMap((item, position) => {
    const outcome = outcomes.get(position);
    if (item === null || outcome?.length === 1) return [];
    const attempt = outcome?.[1] as { startedAt: number } | undefined;
    const [messageId, userId, bytes] = item;
    return {
      id: id * BATCH_SLOTS + position,
      destination,
      source,
      messageId,
      userId: userId ?? undefined,
      state: attempt ? 'delivered' : STATES[state],
      bytes,
      acceptedAt,
      dueAt: acceptedAt,
      firstAttemptAt: attempt?.startedAt ?? (state === 'q' ? undefined : leasedAt),
      attempts: attempt ? JSON.stringify([attempt]) : '[]',
      failedUrls: '[]',
      reason: undefined,
    } satisfies DeliveryRow;
  });
}
