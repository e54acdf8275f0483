import type { AttemptRecord } from '../../webhook-destination/queue/attempt-record.interface.js';
import type { Delivery, DeliveryRecord, NewDelivery } from '../../webhook-destination/queue/delivery.interface.js';
import { NONE, toDelivery as toNewDelivery, toSettled } from '../../webhook-destination/queue/delivery.factory.js';
import type { SearchedFields } from '../../webhook-destination/queue/searched-fields.js';
import type {
  Insertion,
  Settlement,
  StoreBatch,
} from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { BATCH_SLOTS, decodeBodies, decodeItems, encodeBatch, type EncodedBatch } from './batch.codec.js';
import type {
  ClaimedBatch,
  DeliveredRows,
  DeliveryRow,
  InsertedBatch,
  NewBatchRow,
  SettlementRow,
  WholeRows,
} from './delivery-rows.js';

/** Converts batches to the form that is stored. Those of the same messages share it, as they go to many destinations. */
export function toBatchRows(batches: StoreBatch[], searched: SearchedFields): NewBatchRow[] {
  let encoded: EncodedBatch | undefined;
  return batches.map(({ deliveries, leased }, index) => {
    const { destination, source, acceptedAt } = deliveries[0]!;
    if (!encoded || !haveSameMessages(deliveries, batches[index - 1]!.deliveries)) {
      encoded = encodeBatch(deliveries, searched);
    }
    return { destination, source, acceptedAt, leased, size: deliveries.length, ...encoded };
  });
}

/** Whether two lists of deliveries differ only in their destination. */
function haveSameMessages(some: NewDelivery[], others: NewDelivery[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ body, messageId, userId, trace, recordedBy, release }, index) => {
      const other = others[index]!;
      return (
        body === other.body &&
        messageId === other.messageId &&
        userId === other.userId &&
        trace === other.trace &&
        recordedBy === other.recordedBy &&
        release === other.release
      );
    })
  );
}

/** Returns what became of a batch. */
export function toInsertion({ deliveries, leased }: StoreBatch, { id, repeated }: InsertedBatch): Insertion {
  const skipped = new Set(repeated);
  const stored = leased ? deliveries.map((accepted, at) => toNewDelivery(accepted, String(id * BATCH_SLOTS + at))) : [];
  return {
    leased: skipped.size === 0 ? stored : stored.filter((_, position) => !skipped.has(position)),
    repeated: skipped.size === 0 ? NONE : deliveries.filter((_, position) => skipped.has(position)),
  };
}

export function toDeliveries(whole: WholeRows): Delivery[] {
  return parse(whole).map(([delivery]) => delivery);
}

/** Returns the deliveries of a batch; their bodies share its memory, as they did when they were accepted. */
export function toUnattempted(destination: string, { id, source, acceptedAt, ...batch }: ClaimedBatch): Delivery[] {
  const items = decodeItems(batch.items);
  const bodies = decodeBodies(items, batch.bodies);
  const deliveries: Delivery[] = [];
  items.forEach((item, position) => {
    if (item === null) return;
    const [messageId, userId, , trace, recordedBy, release] = item;
    const accepted = {
      destination,
      source,
      messageId,
      userId: userId ?? undefined,
      body: bodies[position]!,
      acceptedAt,
      trace: trace ?? undefined,
      recordedBy: recordedBy ?? undefined,
      release: release ?? undefined,
    };
    deliveries.push(toNewDelivery(accepted, String(id * BATCH_SLOTS + position)));
  });
  return deliveries;
}

export function toRecords(whole: WholeRows): DeliveryRecord[] {
  return parse(whole).map(([delivery, { state, dueAt, reason }]) => {
    const nextAttemptAt = state === 'queued' || state === 'waiting' ? dueAt : undefined;
    return { ...delivery, body: delivery.body.toString(), state, nextAttemptAt, reason };
  });
}

/** Parses the deliveries, each beside its row. */
function parse({ rows, bodies }: WholeRows): [Delivery, DeliveryRow][] {
  let end = 0;
  return (JSON.parse(rows) as DeliveryRow[]).map((row) => {
    const { destination, source, messageId, userId, acceptedAt, firstAttemptAt } = row;
    const start = end;
    end += row.bytes;
    const delivery = {
      id: String(row.id),
      destination,
      source,
      messageId,
      userId,
      body: Buffer.from(bodies.subarray(start, end)), // a copy: a view would keep the memory of all bodies
      acceptedAt,
      trace: row.trace,
      recordedBy: row.recordedBy,
      release: row.release,
      firstAttemptAt,
      attempts: JSON.parse(row.attempts) as AttemptRecord[],
      failedUrls: JSON.parse(row.failedUrls) as string[],
    };
    return [delivery, row];
  });
}

/** Converts settlements to the form that is stored. */
export function toSettlementRows(settlements: Settlement[]): [DeliveredRows, SettlementRow[]] {
  const delivered: DeliveredRows = { ids: [], attempts: [] };
  const others: SettlementRow[] = [];
  for (const settlement of settlements) {
    const { delivery, outcome } = settlement;
    const isFirst = delivery.attempts.length === 0 && delivery.firstAttemptAt === undefined;
    if (isFirst && outcome?.state === 'delivered') {
      delivered.ids.push(Number(delivery.id));
      delivered.attempts.push(JSON.stringify(outcome.attempt));
    } else {
      others.push(toSettlementRow(settlement));
    }
  }
  return [delivered, others];
}

function toSettlementRow(settlement: Settlement): SettlementRow {
  const { delivery, outcome } = settlement;
  const { firstAttemptAt, attempts, dueAt, reason } = toSettled(settlement);
  return {
    id: Number(delivery.id),
    state: outcome?.state ?? 'released',
    attempts: outcome?.attempt && JSON.stringify(attempts),
    firstAttemptAt,
    dueAt,
    failedUrls: outcome && 'failedUrls' in outcome ? JSON.stringify(outcome.failedUrls) : undefined,
    reason,
  };
}
