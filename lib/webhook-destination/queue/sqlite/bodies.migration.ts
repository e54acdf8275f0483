import type Database from 'libsql';

import {
  BATCH_SLOTS,
  type BatchItem,
  decodeItems,
  decodeOutcomes,
  encodeItems,
  encodeOutcomes,
  stripBodies,
  stripItems,
  toPositions,
} from './batch.codec.js';

interface OldRow {
  id: number;
  destination: string;
  source: string;
  message_id: string;
  user_id: string;
  accepted_at: number;
  body: ArrayBuffer;
}

/**
 * Moves bodies into batches. Up to layout 4, a delivery with a row of its own had its body there, and also in its batch
 * until the batch was removed. From layout 5 on, the body is only in the batch, as long as the delivery has a record.
 */
export function keepBodiesInBatches(db: Database.Database): void {
  restoreBatches(db);
  stripForgotten(db);
}

/** Restores batches that were removed although some of their deliveries have rows. */
function restoreBatches(db: Database.Database): void {
  const lost = `SELECT DISTINCT id / ${BATCH_SLOTS} AS batch FROM delivery
    WHERE id / ${BATCH_SLOTS} NOT IN (SELECT id FROM batch)`;
  const rowsOf = db.prepare(
    `SELECT id, destination, source, json_quote(message_id) AS message_id, json_quote(user_id) AS user_id, accepted_at,
       body FROM delivery WHERE id >= ? AND id < ? ORDER BY id`,
  );
  const insert = db.prepare(`INSERT INTO batch VALUES (?, ?, ?, 'l', ?, ?, ?, ?, ?)`);
  const close = db.prepare('INSERT INTO outcome VALUES (?, 0, 0, 0, ?, ?)');
  for (const { batch } of db.prepare(lost).all() as { batch: number }[]) {
    const rows = rowsOf.all(batch * BATCH_SLOTS, (batch + 1) * BATCH_SLOTS) as OldRow[];
    const { destination, source, accepted_at } = rows[0]!;
    const items: BatchItem[] = [];
    for (const { id, message_id, user_id, body } of rows) {
      const position = id % BATCH_SLOTS;
      while (items.length < position) items.push(null);
      items.push([JSON.parse(message_id) as string, JSON.parse(user_id) as string | null, body.byteLength]);
    }
    const bodies = Buffer.concat(rows.map(({ body }) => new Uint8Array(body)));
    insert.run(batch, destination, source, rows.length, accepted_at, accepted_at, encodeItems(items), bodies);
    close.run(batch, rows.length, encodeOutcomes(rows.map(({ id }) => [id % BATCH_SLOTS])));
  }
}

/** Removes bodies of deliveries whose rows were swept. */
function stripForgotten(db: Database.Database): void {
  const closed = db.prepare('SELECT batch FROM outcome WHERE gone > 0');
  const readOutcomes = db.prepare('SELECT entries FROM outcome WHERE batch = ?');
  const rowsOf = db.prepare('SELECT id FROM delivery WHERE id >= ? AND id < ?');
  const read = db.prepare('SELECT items, bodies FROM batch WHERE id = ?');
  const rewrite = db.prepare('UPDATE batch SET size = size - ?, items = ?, bodies = ? WHERE id = ?');
  const rewriteOutcome = db.prepare('UPDATE outcome SET gone = gone - ?, entries = ? WHERE batch = ?');
  const removeOutcome = db.prepare('DELETE FROM outcome WHERE batch = ?');
  for (const { batch } of closed.all() as { batch: number }[]) {
    const rows = rowsOf.all(batch * BATCH_SLOTS, (batch + 1) * BATCH_SLOTS) as { id: number }[];
    const known = toPositions(rows.map(({ id }) => id)).get(batch);
    const outcomes = decodeOutcomes((readOutcomes.get(batch) as { entries: string }).entries);
    const forgotten = outcomes.filter((outcome) => outcome.length === 1 && !known?.has(outcome[0]));
    if (forgotten.length === 0) continue;
    const positions = new Set(forgotten.map(([position]) => position));
    const { items: text, bodies } = read.get(batch) as { items: string; bodies: Uint8Array };
    const items = decodeItems(text);
    const left = stripItems(items, positions);
    rewrite.run(forgotten.length, encodeItems(left), stripBodies(items, bodies, positions), batch);
    const kept = outcomes.filter(([position]) => !positions.has(position));
    if (kept.length === 0) removeOutcome.run(batch);
    else rewriteOutcome.run(forgotten.length, encodeOutcomes(kept), batch);
  }
}
