import type { AttemptRecord } from '../attempt.record.js';
import type { Delivery, DeliveryRecord } from '../delivery-queue.interface.js';
import { firstAttemptAt, type Settlement, type StoreBatch } from '../embedded/delivery-store.interface.js';
import { decodeBodies, decodeItems, encodeBatch } from './batch.codec.cjs';
import type { ClaimedBatch, DeliveryRow, NewBatchRow, SettlementRow } from './sqlite.rows.cjs';
import { BATCH_SLOTS } from './sqlite.schema.cjs';

/** A batch as it is stored. */
export function toBatchRow({ deliveries, leased }: StoreBatch): NewBatchRow {
  const { destination, source, acceptedAt } = deliveries[0]!;
  return { destination, source, acceptedAt, leased, size: deliveries.length, ...encodeBatch(deliveries) };
}

/** Ids of the deliveries of a batch. */
export function toIds(batch: number, size: number): string[] {
  return Array.from({ length: size }, (_, position) => String(batch * BATCH_SLOTS + position));
}

/** The pending deliveries of a claimed batch. */
export function toDeliveries(destination: string, batch: ClaimedBatch): Delivery[] {
  const { source, accepted_at: acceptedAt, leased_at: leasedAt } = batch;
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
      firstAttemptAt: leasedAt ?? undefined,
      attempts: [],
      failedUrls: [],
    };
  });
}

/** The delivery of a row of its own. */
export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: String(row.id),
    destination: row.destination,
    source: row.source,
    messageId: row.message_id,
    userId: row.user_id ?? undefined,
    body: row.body,
    acceptedAt: row.accepted_at,
    firstAttemptAt: row.first_attempt_at ?? undefined,
    attempts: JSON.parse(row.attempts) as AttemptRecord[],
    failedUrls: JSON.parse(row.failed_urls) as string[],
  };
}

/** A row as it is listed. */
export function toRecord(row: DeliveryRow): DeliveryRecord {
  const pending = row.state === 'queued' || row.state === 'waiting';
  return {
    ...toDelivery(row),
    state: row.state,
    nextAttemptAt: pending ? row.due_at : undefined,
    reason: row.reason ?? undefined,
  };
}

/** A settlement as it is stored. */
export function toSettlementRow(settlement: Settlement): SettlementRow {
  const { delivery, outcome } = settlement;
  const row: SettlementRow = {
    id: Number(delivery.id),
    state: outcome?.state ?? 'released',
    attempt: outcome?.attempt && JSON.stringify(outcome.attempt),
    firstAttemptAt: firstAttemptAt(settlement, Date.now()),
  };
  if (outcome === undefined || outcome.state === 'delivered') return row;
  row.failedUrls = JSON.stringify(outcome.failedUrls);
  if (outcome.state === 'waiting') row.dueAt = outcome.nextAttemptAt;
  else row.reason = outcome.reason;
  return row;
}
