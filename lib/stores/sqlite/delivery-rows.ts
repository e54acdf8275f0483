import type { Delivery, DeliveryState } from '../../webhook-destination/queue/delivery.interface.js';
import type { Claim, ClaimLimit } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import type { CheckedSearch } from '../../webhook-destination/queue/delivery-search.js';
import { type CheckedQuery, matches } from '../../webhook-destination/queue/query.util.js';
import { checkAttempts, decoding, type EncodedBatch, toText } from './batch.codec.js';

/** The row of a delivery, whose body and origin stay in the batch. */
export interface DeliveryRow extends Omit<Delivery, 'id' | 'body' | 'attempts' | 'failedUrls'> {
  id: number;
  state: DeliveryState;
  /** Length of the body. */
  bytes: number;
  dueAt: number;
  /** JSON, as it is stored. */
  attempts: string;
  /** JSON, as it is stored. */
  failedUrls: string;
  reason: string | undefined;
}

/** A search with the keys that its deliveries have. */
export interface KeyedSearch extends CheckedSearch {
  keys?: number[];
}

/** Deliveries in the form in which they leave the thread. */
export interface WholeRows {
  /** JSON of the `DeliveryRow`s, which is sent faster than objects. */
  rows: string;
  /** Their bodies, concatenated. */
  bodies: Uint8Array;
}

/** The columns of a `DeliveryRow`. The driver ends a text at U+0000, and the process if a text is no UTF-8. */
export const DELIVERY_COLUMNS = `id, destination, source, CAST(message_id AS BLOB) AS messageId,
  CAST(user_id AS BLOB) AS userId, state, bytes, accepted_at AS acceptedAt, due_at AS dueAt,
  first_attempt_at AS firstAttemptAt, CAST(attempts AS BLOB) AS attempts, CAST(failed_urls AS BLOB) AS failedUrls,
  CAST(reason AS BLOB) AS reason`;

/** A row that was read with `DELIVERY_COLUMNS`. */
type StoredRow = Omit<DeliveryRow, 'messageId' | 'userId' | 'attempts' | 'failedUrls' | 'reason'> &
  Record<'messageId' | 'attempts' | 'failedUrls', Uint8Array> &
  Record<'userId' | 'reason', Uint8Array | null>;

/**
 * Converts rows that were read with `DELIVERY_COLUMNS`; null becomes undefined.
 * @throws {DamageError}
 */
export function toDeliveryRows(rows: unknown[]): DeliveryRow[] {
  return (rows as StoredRow[]).map((row) =>
    decoding('delivery', row.id, () => {
      const attempts = toText(row.attempts);
      const failedUrls = toText(row.failedUrls);
      checkAttempts(JSON.parse(attempts));
      checkNames(JSON.parse(failedUrls));
      return {
        ...row,
        messageId: fromIdText(row.messageId)!,
        userId: fromIdText(row.userId),
        firstAttemptAt: row.firstAttemptAt ?? undefined,
        attempts,
        failedUrls,
        reason: row.reason ? toText(row.reason) : undefined,
      };
    }),
  );
}

function checkNames(names: unknown): void {
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string'))
    throw new Error('a list has another type');
}

export function matchesRow(query: CheckedQuery, row: DeliveryRow): boolean {
  return matches(query, { ...row, id: String(row.id) }, row.state, row.reason);
}

/**
 * Encodes an id for its column. UTF-8 has no lone surrogates and would turn all of them into the same character, so an
 * id that has one is stored as JSON after U+0000.
 */
export function toIdText(id: string | undefined): string | null {
  return id !== undefined && /^\0|\p{Cs}/u.test(id) ? `\0${JSON.stringify(id)}` : (id ?? null);
}

/** @throws {Error} when it is damaged */
export function fromIdText(blob: Uint8Array | null): string | undefined {
  if (blob === null) return undefined;
  const text = toText(blob);
  return text.startsWith('\0') ? (JSON.parse(text.slice(1)) as string) : text;
}

/** A batch to be stored. */
export interface NewBatchRow extends EncodedBatch {
  destination: string;
  source: string;
  acceptedAt: number;
  /** Number of its deliveries. */
  size: number;
  leased: boolean;
}

/** A batch that was stored. */
export interface InsertedBatch {
  id: number;
  /** Positions of deliveries that were skipped because their message was accepted before, in ascending order. */
  repeated: number[];
}

/** A batch that was never leased before, sent as it is stored. */
export interface ClaimedBatch extends Pick<EncodedBatch, 'items' | 'bodies'> {
  id: number;
  source: string;
  acceptedAt: number;
}

/** Result of a claim, as `Claim`. */
export interface ClaimedRows extends Omit<Claim, 'deliveries'> {
  /** Deliveries that were leased before, which come first. */
  rows: WholeRows;
  batches: ClaimedBatch[];
}

/** Deliveries that succeeded at the first attempt, as most do: lists are sent to the thread faster than objects. */
export interface DeliveredRows {
  ids: number[];
  /** JSON of each one's attempt. */
  attempts: string[];
}

/** Outcome of a leased delivery; `released` if it is returned without an attempt. */
export interface SettlementRow {
  id: number;
  state: 'delivered' | 'waiting' | 'dead' | 'released';
  /** JSON of all attempts, if one was made. */
  attempts?: string | undefined;
  firstAttemptAt?: number | undefined;
  dueAt?: number | undefined;
  /** JSON of the URLs that failed permanently. */
  failedUrls?: string | undefined;
  reason?: string | undefined;
}

/** A part of a long walk over the file, so that no call holds up the others for long. */
export interface Slice<T, P = number> {
  result: T;
  /** Where the next part begins, such as the id below it; undefined when this was the last. */
  next: P | undefined;
}

/** A delivery after which the next part begins. */
export type DeliveryPlace = Pick<DeliveryRow, 'destination' | 'id'>;

/** Whether a claim has reached its limit. */
export function isUsedUp({ deliveries, bytes }: ClaimLimit): boolean {
  return deliveries <= 0 || bytes <= 0;
}

/** Converts a query to an SQL condition on the table `delivery`, and its parameters. */
export function toCondition(query: CheckedQuery): { sql: string; parameters: unknown[] } {
  const { acceptedBefore = Number.MAX_SAFE_INTEGER, id, messageId, userId } = query;
  const terms = ['accepted_at < ?'];
  const parameters: unknown[] = [acceptedBefore];
  const add = (column: string, values: readonly unknown[]) => {
    terms.push(`${column} IN (${values.map(() => '?').join(', ')})`);
    parameters.push(...values);
  };
  if (id !== undefined) add('id', [Number(id)]);
  for (const column of ['destination', 'state', 'reason'] as const) {
    if (query[column] !== undefined) add(column, [query[column]]);
  }
  if (query.reasonStart !== undefined) {
    terms.push('substr(reason, 1, length(?)) = ?');
    parameters.push(query.reasonStart, query.reasonStart);
  }
  if (query.source) add('source', [...query.source]);
  if (messageId !== undefined) add('message_id', [toIdText(messageId)]);
  if (userId) add('user_id', Array.from(userId, toIdText));
  return { sql: terms.join(' AND '), parameters };
}
