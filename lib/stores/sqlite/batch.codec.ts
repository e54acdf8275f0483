import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

import type { AttemptRecord } from '../../webhook-destination/queue/attempt-record.interface.js';
import type { NewDelivery } from '../../webhook-destination/queue/delivery.interface.js';
import type { SearchedFields } from '../../webhook-destination/queue/searched-fields.js';
import type { PositionedKey } from './search-key.table.js';

/** Finds repetitions within 1 MiB, which suffices here, and is faster than writing the bytes to disk. */
const COMPRESSION = { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 20 };

/** Maximum number of deliveries in a batch. A delivery's id is its batch's id times this, plus its position. */
export const BATCH_SLOTS = 4_096;

/** Thrown for a stored batch, or row of a delivery, that cannot be read. */
export class DamageError extends Error {
  constructor(
    readonly table: 'batch' | 'delivery',
    readonly id: number,
    readonly fault: unknown,
  ) {
    super(`${table} ${id} cannot be read`);
  }
}

/**
 * Runs a function that decodes what is stored.
 * @throws {DamageError} when it fails
 */
export function decoding<T>(table: DamageError['table'], id: number, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new DamageError(table, id, error);
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a text that was read as a BLOB: the driver ends the process if a text is no UTF-8.
 * @throws {TypeError} when it is damaged
 */
export function toText(blob: ArrayBuffer | Uint8Array): string {
  return UTF8.decode(blob);
}

/** A delivery within its batch, with the length of its body; null once no record of it is left. */
export type BatchItem =
  | [
      messageId: string,
      userId: string | null,
      length: number,
      trace?: string | null,
      recordedBy?: string | null,
      release?: string | null,
    ]
  | null;

/** Outcome of a delivery in a batch: delivered, with its attempt, or moved to a row of its own. */
export type BatchOutcome = [position: number, attempt?: unknown];

/** Items as they are stored; the last three columns are left out if they are empty. */
type Columns = [
  messageIds: (string | null)[],
  userIds: (string | null)[],
  lengths: number[],
  traces?: (string | null)[],
  recorders?: (string | null)[],
  releases?: (string | null)[],
];

/** The deliveries of a batch, encoded for its columns. */
export interface EncodedBatch {
  /** JSON of the ids in `items`, so that these need not be parsed. */
  messageIds: string;
  items: string;
  /** All bodies, concatenated. */
  bodies: Uint8Array;
  /** Keys by which deliveries are searched; undefined if no fields are. */
  keys: PositionedKey[] | undefined;
}

export function batchOf(id: number): number {
  return Math.floor(id / BATCH_SLOTS);
}

/** Returns the positions of deliveries in their batches, by batch. */
export function toPositions(ids: number[]): Map<number, Set<number>> {
  const positions = new Map<number, Set<number>>();
  for (const id of ids) {
    const others = positions.get(batchOf(id));
    if (others) others.add(id % BATCH_SLOTS);
    else positions.set(batchOf(id), new Set([id % BATCH_SLOTS]));
  }
  return positions;
}

export function encodeBatch(deliveries: NewDelivery[], searched: SearchedFields): EncodedBatch {
  const messageIds = JSON.stringify(deliveries.map(({ messageId }) => messageId));
  const userIds = JSON.stringify(deliveries.map(({ userId }) => userId ?? null));
  const bodies = deliveries.map(({ body }) => body);
  const lengths = JSON.stringify(bodies.map(({ length }) => length));
  const origins = encodeOrigins(deliveries);
  const items = `[${messageIds},${userIds},${lengths}${origins}]`;
  const keys = searched.names.length > 0 ? encodeKeys(bodies, searched) : undefined;
  return { messageIds, items, bodies: joinBodies(bodies), keys };
}

function encodeKeys(bodies: Buffer[], searched: SearchedFields): PositionedKey[] {
  return bodies.flatMap((body, position) => searched.keysOf(body).map((key): PositionedKey => [position, key]));
}

function encodeOrigins(deliveries: NewDelivery[]): string {
  if (deliveries.every(({ trace, recordedBy, release }) => (trace ?? recordedBy ?? release) === undefined)) return '';
  const traces = deliveries.map(({ trace }) => trace ?? null);
  const recorders = deliveries.map(({ recordedBy }) => recordedBy ?? null);
  const releases = deliveries.map(({ release }) => release ?? null);
  return `,${JSON.stringify(traces)},${JSON.stringify(recorders)},${JSON.stringify(releases)}`;
}

/** Joins bodies in memory of their own: with part of a shared pool, the other thread would receive the whole pool. */
function joinBodies(bodies: Uint8Array[]): Uint8Array {
  const joined = Buffer.allocUnsafeSlow(bodies.reduce((size, { length }) => size + length, 0));
  let start = 0;
  for (const body of bodies) {
    joined.set(body, start);
    start += body.length;
  }
  return joined;
}

/** Encodes bodies for storage: those of a batch that was full are compressed, even if few are left. */
export function packBodies(bodies: Uint8Array, wasFull: boolean): Uint8Array {
  if (!wasFull) return bodies;
  const packed = brotliCompressSync(bodies, { params: COMPRESSION });
  return packed.byteLength < bodies.byteLength ? packed : bodies;
}

/**
 * Decodes the stored bodies of a batch; they are concatenated.
 * @throws {Error} when they are not those of the items
 */
export function unpackBodies(items: BatchItem[], stored: Uint8Array): Uint8Array {
  const size = items.reduce((sum, item) => sum + (item?.[2] ?? 0), 0);
  if (stored.byteLength === size) return stored;
  const bodies = brotliDecompressSync(stored);
  if (bodies.byteLength !== size) throw new Error('the bodies have another length');
  return bodies;
}

/** Removes the bodies at some positions. */
export function stripBodies(items: BatchItem[], bodies: Uint8Array, positions: ReadonlySet<number>): Uint8Array {
  return joinBodies(decodeBodies(items, bodies).filter((_, position) => !positions.has(position)));
}

/** Replaces the items at some positions by null. */
export function stripItems(items: BatchItem[], positions: ReadonlySet<number>): BatchItem[] {
  return items.map((item, position) => (positions.has(position) ? null : item));
}

/** @throws {Error} when they are damaged */
export function decodeItems(items: string): BatchItem[] {
  const [messageIds, userIds, lengths, traces, recorders, releases] = JSON.parse(items) as Columns;
  if (userIds.length !== messageIds.length || lengths.length !== messageIds.length)
    throw new Error('items are missing');
  return messageIds.map((messageId, position) => {
    if (messageId === null) return null;
    const item: BatchItem = [messageId, userIds[position]!, lengths[position]!];
    const [, userId, length] = item;
    if (typeof messageId !== 'string' || !(userId === null || typeof userId === 'string') || !(length >= 0)) {
      throw new Error('an item has another type');
    }
    if (traces) item.push(traces[position], recorders?.[position], releases?.[position]);
    return item;
  });
}

export function encodeItems(items: BatchItem[]): string {
  const hasOrigins = items.some((item) => item?.[3] ?? item?.[4] ?? item?.[5]);
  const columns = (hasOrigins ? [0, 1, 2, 3, 4, 5] : [0, 1, 2]).map((column) =>
    items.map((item) => item?.[column] ?? null),
  );
  return JSON.stringify(columns);
}

/** Splits the bodies of a batch by position; the body of a removed delivery is empty. */
export function decodeBodies(items: BatchItem[], bodies: Uint8Array): Buffer[] {
  let start = bodies.byteOffset;
  return items.map((item) => {
    const length = item?.[2] ?? 0;
    const body = Buffer.from(bodies.buffer, start, length);
    start += length;
    return body;
  });
}

/** @throws {Error} when they are damaged */
export function decodeOutcomes(entries: string | null): BatchOutcome[] {
  const outcomes = entries === null ? [] : (JSON.parse(`[${entries}]`) as BatchOutcome[]);
  for (const [position, ...attempts] of outcomes) {
    if (!(position >= 0)) throw new Error('an outcome has another type');
    checkAttempts(attempts);
  }
  return outcomes;
}

/** @throws {Error} when they are damaged */
export function checkAttempts(attempts: unknown): void {
  for (const attempt of attempts as AttemptRecord[]) {
    if (typeof attempt.startedAt !== 'number' || !Array.isArray(attempt.results)) {
      throw new Error('an attempt has another type');
    }
  }
}

/** Encodes the column `entries`: a list without brackets, so that more entries can be appended. */
export function encodeOutcomes(outcomes: BatchOutcome[]): string {
  return outcomes.map((outcome) => JSON.stringify(outcome)).join(',');
}
