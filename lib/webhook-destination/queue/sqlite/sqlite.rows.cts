import type { AttemptRecord } from '../attempt.record.js' with { 'resolution-mode': 'import' };
import type { Delivery, DeliveryQuery, DeliveryRecord, DeliveryState } from '../delivery-queue.interface.js' with {
  'resolution-mode': 'import',
};

/** A row of the table `delivery`. */
export interface DeliveryRow {
  id: number;
  destination: string;
  source: string;
  message_id: string;
  user_id: string | null;
  state: DeliveryState;
  body: string;
  accepted_at: number;
  due_at: number;
  first_attempt_at: number | null;
  attempts: string;
  failed_urls: string;
  reason: string | null;
}

const COLUMNS: Record<keyof DeliveryQuery, string> = {
  id: 'id',
  destination: 'destination',
  source: 'source',
  state: 'state',
  messageId: 'message_id',
  userId: 'user_id',
};

/** A row as the delivery it holds. */
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

/** A query as an SQL condition and its parameters. */
export function toCondition(query: DeliveryQuery): { sql: string; parameters: unknown[] } {
  const terms = Object.entries(query).filter(([, value]) => value !== undefined) as [keyof DeliveryQuery, string][];
  return {
    sql: ['TRUE', ...terms.map(([field]) => `${COLUMNS[field]} = ?`)].join(' AND '),
    parameters: terms.map(([field, value]) => (field === 'id' ? Number(value) : value)),
  };
}
