import type { SqliteConnection } from './sqlite.connection.js';

import {
  BATCH_SLOTS,
  type BatchItem,
  type BatchOutcome,
  decodeBodies,
  decodeItems,
  decodeOutcomes,
  decoding,
  toPositions,
  toText,
  unpackBodies,
} from './batch.codec.js';
import type { DeliveryRow, WholeRows } from './delivery-rows.js';

/** A batch with its outcomes, but without its bodies, as read from the file. */
interface BatchHead {
  id: number;
  destination: string;
  source: string;
  state: 'q' | 'r' | 'l';
  size: number;
  accepted_at: number;
  items: Uint8Array;
  /** Null until a delivery has an outcome. */
  open: number | null;
  entries: Uint8Array | null;
}

/** @throws {Error} when they are damaged */
export function toOutcomes(entries: Uint8Array | null): BatchOutcome[] {
  return decodeOutcomes(entries && toText(entries));
}

/** State of a delivery without an outcome, by the state of its batch. */
const STATES = { q: 'queued', r: 'waiting', l: 'delivering' } as const;

export class BatchReader {
  private readonly statements = {
    head: this.db.prepare(
      `SELECT id, batch.destination, source, state, size, accepted_at, CAST(items AS BLOB) AS items, open,
         CAST(entries AS BLOB) AS entries
       FROM batch LEFT JOIN outcome ON batch = id WHERE id = ?`,
    ),
    contents: this.db.prepare('SELECT CAST(items AS BLOB) AS items, bodies FROM batch WHERE id = ?'),
  };

  constructor(private readonly db: SqliteConnection) {}

  head(batch: number): BatchHead | undefined {
    return this.statements.head.get(batch) as BatchHead | undefined;
  }

  /** Returns both columns of an existing batch, as they are stored. */
  contents(batch: number): { items: Uint8Array; bodies: Uint8Array } {
    return this.statements.contents.get(batch) as { items: Uint8Array; bodies: Uint8Array };
  }

  /**
   * Returns the deliveries of a batch and their bodies, by position.
   * @throws {DamageError}
   */
  decode(batch: number): { items: BatchItem[]; bodies: Buffer[]; joined: Uint8Array } {
    return decoding('batch', batch, () => {
      const stored = this.contents(batch);
      const items = decodeItems(toText(stored.items));
      const joined = unpackBodies(items, stored.bodies);
      return { items, bodies: decodeBodies(items, joined), joined };
    });
  }

  /** Adds to rows what stays in their batches. Reads a batch once for all its rows: rows of retries come mixed. */
  withBodies(rows: DeliveryRow[]): WholeRows {
    const starts = new Map<number, number>();
    const origins = new Map<number, Pick<DeliveryRow, 'trace' | 'recordedBy' | 'release'>>();
    let size = 0;
    for (const { id, bytes } of rows) {
      starts.set(id, size);
      size += bytes;
    }
    const bodies = Buffer.allocUnsafeSlow(size);
    for (const [batch, positions] of toPositions(rows.map(({ id }) => id))) {
      const { items, bodies: all } = this.decode(batch);
      for (const position of positions) {
        const id = batch * BATCH_SLOTS + position;
        bodies.set(all[position]!, starts.get(id));
        const [, , , ...origin] = items[position] ?? [];
        const [trace, recordedBy, release] = origin.map((text) => text ?? undefined);
        if (trace ?? recordedBy ?? release) origins.set(id, { trace, recordedBy, release });
      }
    }
    const whole = origins.size > 0 ? rows.map((row) => ({ ...row, ...origins.get(row.id) })) : rows;
    return { rows: JSON.stringify(whole), bodies };
  }
}

/**
 * Returns the deliveries of a batch that have no row of their own.
 * @throws {DamageError}
 */
export function toRows({ id, destination, source, state, ...batch }: BatchHead): DeliveryRow[] {
  const { accepted_at: acceptedAt } = batch;
  const found = decoding('batch', id, () => toOutcomes(batch.entries));
  const outcomes = new Map(found.map((outcome) => [outcome[0], outcome]));
  return decoding('batch', id, () => decodeItems(toText(batch.items))).flatMap((item, position) => {
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
