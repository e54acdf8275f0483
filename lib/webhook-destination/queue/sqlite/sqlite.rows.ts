import type { DeliveryState } from '../delivery-queue.interface.js';
import type { ClaimLimit } from '../embedded/delivery-store.interface.js';
import type { CheckedQuery } from '../query.check.js';

/** A delivery as a row of its own, but for its body; the JSON columns as they are stored. */
export interface DeliveryRow {
  id: number;
  destination: string;
  source: string;
  message_id: string;
  user_id: string | null;
  state: DeliveryState;
  /** Length of its body, which stays in the batch. */
  bytes: number;
  accepted_at: number;
  due_at: number;
  first_attempt_at: number | null;
  attempts: string;
  failed_urls: string;
  reason: string | null;
}

/** A delivery as it leaves the thread. */
export interface WholeDeliveryRow extends DeliveryRow {
  body: Uint8Array;
}

/** The columns of a `DeliveryRow`. The ids come as JSON, as the driver ends a text at U+0000. */
export const DELIVERY_COLUMNS = `id, destination, source, json_quote(message_id) AS message_id,
  json_quote(user_id) AS user_id, state, bytes, accepted_at, due_at, first_attempt_at, attempts, failed_urls, reason`;

/** The rows that were read as `DELIVERY_COLUMNS`. */
export function toDeliveryRows(rows: unknown[]): DeliveryRow[] {
  return (rows as DeliveryRow[]).map((row) => ({
    ...row,
    message_id: fromIdText(JSON.parse(row.message_id) as string)!,
    user_id: fromIdText(JSON.parse(row.user_id!) as string | null),
  }));
}

/**
 * An id as its column holds it. UTF-8 has no lone surrogates, and would make all of them one character, so an id that
 * has one is stored as JSON after U+0000.
 */
export function toIdText(id: string | null): string | null {
  return id !== null && /^\0|\p{Cs}/u.test(id) ? `\0${JSON.stringify(id)}` : id;
}

function fromIdText(text: string | null): string | null {
  return text?.startsWith('\0') ? (JSON.parse(text.slice(1)) as string) : text;
}

/** A batch on its way into the file. */
export interface NewBatchRow {
  destination: string;
  source: string;
  acceptedAt: number;
  /** Its deliveries. */
  size: number;
  /** JSON of the ids in `items`, so that nobody has to read them there. */
  messageIds: string;
  items: string;
  /** One after the other. */
  bodies: Uint8Array;
  leased: boolean;
}

/** A batch that is in the file now. */
export interface InsertedBatch {
  id: number;
  /** Positions of deliveries that were left out, as their messages had been accepted before; in ascending order. */
  repeated: number[];
}

/** A batch whose pending deliveries are leased now. */
export interface ClaimedBatch {
  id: number;
  source: string;
  accepted_at: number;
  /** When it was leased before, by a process that ended. */
  leased_at: number | null;
  items: string;
  /** One after the other. */
  bodies: Uint8Array;
  /** Positions of the deliveries that have no outcome. */
  pending: number[];
}

/** Deliveries whose first attempt delivered them, which is what most are; as columns, that cross threads sooner. */
export interface DeliveredRows {
  ids: number[];
  /** JSON of the attempt of each. */
  attempts: string[];
}

/** The outcome of a leased delivery, or, as `released`, that it is given back. */
export interface SettlementRow {
  id: number;
  state: 'delivered' | 'waiting' | 'dead' | 'released';
  /** JSON of the attempt, if one was made. */
  attempt?: string | undefined;
  firstAttemptAt?: number | undefined;
  dueAt?: number;
  /** JSON of the URLs that failed for good. */
  failedUrls?: string;
  reason?: string;
}

/** A part of a long walk over the file, so that no call holds up the others for long. */
export interface Slice<T> {
  result: T;
  /** Id that the next part begins below; undefined when this was the last. */
  next: number | undefined;
}

/** Whether a claim has found as much as it may. */
export function isUsedUp({ deliveries, bytes }: ClaimLimit): boolean {
  return deliveries <= 0 || bytes <= 0;
}

const COLUMNS: Record<Exclude<keyof CheckedQuery, 'acceptedBefore'>, string> = {
  id: 'id',
  destination: 'destination',
  source: 'source',
  state: 'state',
  messageId: 'message_id',
  userId: 'user_id',
  reason: 'reason',
};

/** What a query asks of one field: its value, or any of several. */
type Wanted = string | ReadonlySet<string>;

/** A query as an SQL condition on the table `delivery`, and its parameters. */
export function toCondition(query: CheckedQuery): { sql: string; parameters: unknown[] } {
  const { acceptedBefore = Number.MAX_SAFE_INTEGER, ...fields } = query;
  const terms = ['accepted_at < ?'];
  const parameters: unknown[] = [acceptedBefore];
  for (const [field, wanted] of wantedOf(fields)) {
    const values = typeof wanted === 'string' ? [wanted] : [...wanted];
    terms.push(`${COLUMNS[field]} IN (${values.map(() => '?').join(', ')})`);
    parameters.push(...values.map((value) => toParameter(field, value)));
  }
  return { sql: terms.join(' AND '), parameters };
}

function toParameter(field: keyof CheckedQuery, value: string): unknown {
  if (field === 'id') return Number(value);
  return field === 'messageId' || field === 'userId' ? toIdText(value) : value;
}

/** Whether a row is among the deliveries of a query. */
export function matches(row: DeliveryRow, query: CheckedQuery): boolean {
  const { acceptedBefore = Infinity, ...fields } = query;
  if (row.accepted_at >= acceptedBefore) return false;
  return wantedOf(fields).every(([field, wanted]) => {
    const value = row[COLUMNS[field] as keyof DeliveryRow];
    return typeof wanted === 'string' ? String(value) === wanted : wanted.has(value as string);
  });
}

function wantedOf(fields: Omit<CheckedQuery, 'acceptedBefore'>): [keyof typeof fields, Wanted][] {
  return Object.entries(fields).filter(([, wanted]) => wanted !== undefined) as [keyof typeof fields, Wanted][];
}
