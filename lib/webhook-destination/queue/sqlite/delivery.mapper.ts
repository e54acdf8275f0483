import type { AttemptRecord } from '../attempt.record.js';
import type { Delivery, DeliveryRecord } from '../delivery-queue.interface.js';
import {
  firstAttemptAt,
  type Settlement,
  type StoreBatch,
  toDelivery as toNewDelivery,
} from '../embedded/delivery-store.interface.js';
import { decodeBodies, decodeItems, encodeBatch } from './batch.codec.js';
import { BATCH_SLOTS } from './batch-id.js';
import type {
  ClaimedBatch,
  DeliveredRows,
  InsertedBatch,
  NewBatchRow,
  SettlementRow,
  WholeDeliveryRow,
} from './sqlite.rows.js';

/** A batch as it is stored. */
export function toBatchRow({ deliveries, leased }: StoreBatch): NewBatchRow {
  const { destination, source, acceptedAt } = deliveries[0]!;
  return { destination, source, acceptedAt, leased, size: deliveries.length, ...encodeBatch(deliveries) };
}

/** The deliveries of a batch that were stored, if they are leased. */
export function toInserted({ deliveries, leased }: StoreBatch, { id, repeated }: InsertedBatch): Delivery[] {
  if (!leased) return [];
  const inserted = deliveries.map((accepted, position) => toNewDelivery(accepted, String(id * BATCH_SLOTS + position)));
  return repeated.length === 0 ? inserted : inserted.filter((_, position) => !repeated.includes(position));
}

/** The pending deliveries of a claimed batch. */
export function toDeliveries(destination: string, batch: ClaimedBatch): Delivery[] {
  const { source, acceptedAt, leasedAt } = batch;
  const items = decodeItems(batch.items);
  const bodies = decodeBodies(items, batch.bodies);
  return batch.pending.map((position) => {
    const [messageId, userId] = items[position]!;
    return {
      id: String(batch.id * BATCH_SLOTS + position),
      destination,
      source,
      messageId,
      userId: userId ?? undefined,
      body: bodies[position]!,
      acceptedAt,
      firstAttemptAt: leasedAt,
      attempts: [],
      failedUrls: [],
    };
  });
}

/** The delivery of a row of its own. */
export function toDelivery(row: WholeDeliveryRow): Delivery {
  const { destination, source, messageId, userId, acceptedAt, firstAttemptAt } = row;
  return {
    id: String(row.id),
    destination,
    source,
    messageId,
    userId,
    body: toBuffer(row.body),
    acceptedAt,
    firstAttemptAt,
    attempts: JSON.parse(row.attempts) as AttemptRecord[],
    failedUrls: JSON.parse(row.failedUrls) as string[],
  };
}

/** A row as it is listed. */
export function toRecord(row: WholeDeliveryRow): DeliveryRecord {
  const { state, dueAt, reason } = row;
  const nextAttemptAt = state === 'queued' || state === 'waiting' ? dueAt : undefined;
  return { ...toDelivery(row), body: toBuffer(row.body).toString(), state, nextAttemptAt, reason };
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Settlements as they are stored. */
export function toSettlementRows(settlements: Settlement[], now: number): [DeliveredRows, SettlementRow[]] {
  const delivered: DeliveredRows = { ids: [], attempts: [] };
  const others: SettlementRow[] = [];
  for (const settlement of settlements) {
    const { delivery, outcome } = settlement;
    const isFirst = delivery.attempts.length === 0 && delivery.firstAttemptAt === undefined;
    if (isFirst && outcome?.state === 'delivered') {
      delivered.ids.push(Number(delivery.id));
      delivered.attempts.push(JSON.stringify(outcome.attempt));
    } else {
      others.push(toSettlementRow(settlement, now));
    }
  }
  return [delivered, others];
}

function toSettlementRow(settlement: Settlement, now: number): SettlementRow {
  const { delivery, outcome } = settlement;
  const row: SettlementRow = {
    id: Number(delivery.id),
    state: outcome?.state ?? 'released',
    attempt: outcome?.attempt && JSON.stringify(outcome.attempt),
    firstAttemptAt: firstAttemptAt(settlement, now),
  };
  if (outcome === undefined || outcome.state === 'delivered') return row;
  row.failedUrls = JSON.stringify(outcome.failedUrls);
  if (outcome.state === 'waiting') row.dueAt = outcome.nextAttemptAt;
  else row.reason = outcome.reason;
  return row;
}
