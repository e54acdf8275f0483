import { hash } from 'node:crypto';

import { parseJson } from '../../common/value.util.js';
import type { AttemptRecord } from '../../webhook-destination/queue/attempt-record.interface.js';
import { NONE } from '../../webhook-destination/queue/delivery.factory.js';
import type {
  Delivery,
  DeliveryRecord,
  DeliveryState,
  NewDelivery,
} from '../../webhook-destination/queue/delivery.interface.js';

/** A row of a delivery, as the statements read it. */
export interface DeliveryRow {
  id: string;
  destination: string;
  source: string;
  message_id: string;
  user_id: string | null;
  body: Buffer;
  accepted_at: number;
  first_attempt_at: number | null;
  attempts: string | null;
  failed_urls: string | null;
  trace: string | null;
  recorded_by: string | null;
  release: string | null;
}

/** A row of a delivery with its state. */
export interface RecordRow extends DeliveryRow {
  state: DeliveryState;
  due_at: number;
  reason: string | null;
}

/** The columns of a `DeliveryRow`. */
export const DELIVERY_COLUMNS = `id, destination, source, message_id, user_id, body, accepted_at::float8,
  first_attempt_at::float8, attempts, failed_urls, trace, recorded_by, release`;

/** A delivery that this process has leased. */
export class LeasedDelivery implements Delivery {
  readonly destination: string;
  readonly source: string;
  readonly messageId: string;
  readonly userId: string | undefined;
  readonly body: Buffer;
  readonly acceptedAt: number;
  readonly trace: string | undefined;
  readonly recordedBy: string | undefined;
  readonly release: string | undefined;
  /** The mark of its lease. */
  readonly #mark: string;

  constructor(
    accepted: NewDelivery,
    readonly id: string,
    mark: string,
    readonly firstAttemptAt: number | undefined = undefined,
    readonly attempts: AttemptRecord[] = NONE,
    readonly failedUrls: string[] = NONE,
  ) {
    this.destination = accepted.destination;
    this.source = accepted.source;
    this.messageId = accepted.messageId;
    this.userId = accepted.userId;
    this.body = accepted.body;
    this.acceptedAt = accepted.acceptedAt;
    this.trace = accepted.trace;
    this.recordedBy = accepted.recordedBy;
    this.release = accepted.release;
    this.#mark = mark;
  }

  /** Whether the lease of a delivery has this mark. */
  static isHeld(delivery: Delivery, mark: string): boolean {
    return #mark in delivery && delivery.#mark === mark;
  }
}

/** Converts a row to a leased delivery. */
export function toLeased(row: DeliveryRow, mark: string): Delivery {
  const delivery = toDelivery(row);
  const { id, firstAttemptAt, attempts, failedUrls } = delivery;
  return new LeasedDelivery(delivery, id, mark, firstAttemptAt, attempts, failedUrls);
}

/** Converts a row to a record. */
export function toRecord(row: RecordRow): DeliveryRecord {
  const { state, due_at, reason } = row;
  return {
    ...toDelivery(row),
    body: row.body.toString(),
    state,
    nextAttemptAt: state === 'queued' || state === 'waiting' ? due_at : undefined,
    reason: toText(reason),
  };
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    destination: decodeText(row.destination),
    source: decodeText(row.source),
    messageId: decodeText(row.message_id),
    userId: toText(row.user_id),
    body: row.body,
    acceptedAt: row.accepted_at,
    trace: row.trace ?? undefined,
    recordedBy: toText(row.recorded_by),
    release: toText(row.release),
    firstAttemptAt: row.first_attempt_at ?? undefined,
    attempts: decodeList<AttemptRecord>(row.attempts),
    failedUrls: decodeList<string>(row.failed_urls),
  };
}

/** Encodes a text as within the quotes of JSON, because PostgreSQL cannot store NUL and lone surrogates. */
export function encodeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function toText(column: string | null): string | undefined {
  return column === null ? undefined : decodeText(column);
}

/** Decodes a text that {@link encodeText} encoded; one that was changed by hand stays as it is. */
export function decodeText(encoded: string): string {
  return encoded.includes('\\') ? ((parseJson(`"${encoded}"`) as string | undefined) ?? encoded) : encoded;
}

/** Decodes a list of a row. One that was changed by hand may be none: the delivery goes on without it. */
function decodeList<T>(encoded: string | null): T[] {
  const list = encoded === null ? NONE : parseJson(encoded);
  return Array.isArray(list) ? (list as T[]) : NONE;
}

/** Encodes a list for a row; null if it is empty. */
export function encodeList(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list);
}

/** Encodes the keys by which a delivery is searched as an array of PostgreSQL; null if there are none. */
export function encodeKeys(keys: readonly number[]): string | null {
  return keys.length === 0 ? null : `{${keys.join(',')}}`;
}

/** Returns the key of a message for one destination. */
export function toKey({
  destination,
  source,
  messageId,
}: Pick<NewDelivery, 'destination' | 'source' | 'messageId'>): string {
  return toUuid([destination, source, messageId]);
}

/** Returns the key of a delivery that another queue holds. That queue may hold several deliveries of one message. */
export function toOriginKey({ destination, source, messageId, acceptedAt, id }: Delivery): string {
  return toUuid([destination, source, messageId, acceptedAt, id]);
}

/** Returns the first 128 bits of a SHA-256, in hexadecimal digits. */
function toUuid(parts: unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32);
}
