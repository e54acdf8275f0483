import type Database from 'libsql';

import { BATCH_SLOTS, decodeBodies, decodeItems, decodeOutcomes, toPositions, unpackBodies } from './batch.codec.js';
import type { DeliveryRow, WholeRows } from './delivery-rows.js';

/** A batch with its outcomes, but without its bodies, as read from the file. */
interface BatchHead {
  id: number;
  destination: string;
  source: string;
  state: 'q' | 'r' | 'l';
  accepted_at: number;
  items: string;
  /** Null until a delivery has an outcome. */
  open: number | null;
  entries: string | null;
}

/** State of a delivery without an outcome, by the state of its batch. */
const STATES = { q: 'queued', r: 'waiting', l: 'delivering' } as const;

export class BatchReader {
  private readonly statements = {
    head: this.db.prepare(
      `SELECT id, destination, source, state, accepted_at, items, open, entries
       FROM batch LEFT JOIN outcome ON batch = id WHERE id = ?`,
    ),
    contents: this.db.prepare('SELECT items, bodies FROM batch WHERE id = ?'),
  };

  constructor(private readonly db: Database.Database) {}

  head(batch: number): BatchHead | undefined {
    return this.statements.head.get(batch) as BatchHead | undefined;
  }

  /** Returns both columns of an existing batch, as they are stored. */
  contents(batch: number): { items: string; bodies: Uint8Array } {
    return this.statements.contents.get(batch) as { items: string; bodies: Uint8Array };
  }

  /** Adds to rows what stays in their batches. Reads a batch once for all its rows: rows of retries come mixed. */
  withBodies(rows: DeliveryRow[]): WholeRows {
    const starts = new Map<number, number>();
    const origins = new Map<number, Pick<DeliveryRow, 'trace' | 'recordedBy'>>();
    let size = 0;
    for (const { id, bytes } of rows) {
      starts.set(id, size);
      size += bytes;
    }
    const bodies = Buffer.allocUnsafeSlow(size);
    for (const [batch, positions] of toPositions(rows.map(({ id }) => id))) {
      const stored = this.contents(batch);
      const items = decodeItems(stored.items);
      const all = decodeBodies(items, unpackBodies(items, stored.bodies));
      for (const position of positions) {
        const id = batch * BATCH_SLOTS + position;
        bodies.set(all[position]!, starts.get(id));
        const [, , , trace, recordedBy] = items[position] ?? [];
        if (trace ?? recordedBy) origins.set(id, { trace: trace ?? undefined, recordedBy: recordedBy ?? undefined });
      }
    }
    const whole = origins.size > 0 ? rows.map((row) => ({ ...row, ...origins.get(row.id) })) : rows;
    return { rows: JSON.stringify(whole), bodies };
  }
}

/** Returns the deliveries of a batch that have no row of their own. */
export function toRows({ id, destination, source, state, ...batch }: BatchHead): DeliveryRow[] {
  const { accepted_at: acceptedAt } = batch;
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
      firstAttemptAt: attempt?.startedAt,
      attempts: attempt ? JSON.stringify([attempt]) : '[]',
      failedUrls: '[]',
      reason: undefined,
    } satisfies DeliveryRow;
  });
}
