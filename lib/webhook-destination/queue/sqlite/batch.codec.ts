import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

import type { NewDelivery } from '../delivery-queue.interface.js';

/** Finds what repeats within 1 MiB, which is all that counts here; faster than the disk would take the bytes. */
const COMPRESSION = { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 20 };

/** Deliveries that one batch can hold: a delivery's id is its batch's, times this, plus its position. */
export const BATCH_SLOTS = 4_096;

/**
 * A delivery within its batch: who and what, the length of its body, and where it was recorded; null once no record of it
 * is left.
 */
export type BatchItem =
  [messageId: string, userId: string | null, length: number, trace?: string | null, recordedBy?: string | null] | null;

/** What became of a delivery of a batch: delivered, with its attempt, or gone into a row of its own. */
export type BatchOutcome = [position: number, attempt?: unknown];

/** The items as they are stored; without the last two where nothing is known of them. */
type Columns = [
  messageIds: (string | null)[],
  userIds: (string | null)[],
  lengths: number[],
  traces?: (string | null)[],
  recorders?: (string | null)[],
];

/** The deliveries of a batch as its columns hold them. */
export interface EncodedBatch {
  /** JSON of the ids in `items`, so that nobody has to read them there. */
  messageIds: string;
  items: string;
  /** One after the other. */
  bodies: Uint8Array;
}

export function batchOf(id: number): number {
  return Math.floor(id / BATCH_SLOTS);
}

/** The positions of deliveries in their batches, by batch. */
export function toPositions(ids: number[]): Map<number, Set<number>> {
  const positions = new Map<number, Set<number>>();
  for (const id of ids) {
    const others = positions.get(batchOf(id));
    if (others) others.add(id % BATCH_SLOTS);
    else positions.set(batchOf(id), new Set([id % BATCH_SLOTS]));
  }
  return positions;
}

export function encodeBatch(deliveries: NewDelivery[]): EncodedBatch {
  const messageIds = JSON.stringify(deliveries.map(({ messageId }) => messageId));
  const userIds = JSON.stringify(deliveries.map(({ userId }) => userId ?? null));
  const bodies = deliveries.map(({ body }) => body);
  const lengths = JSON.stringify(bodies.map(({ length }) => length));
  const origins = encodeOrigins(deliveries);
  return { messageIds, items: `[${messageIds},${userIds},${lengths}${origins}]`, bodies: joinBodies(bodies) };
}

function encodeOrigins(deliveries: NewDelivery[]): string {
  if (deliveries.every(({ trace, recordedBy }) => trace === undefined && recordedBy === undefined)) return '';
  const traces = deliveries.map(({ trace }) => trace ?? null);
  const recorders = deliveries.map(({ recordedBy }) => recordedBy ?? null);
  return `,${JSON.stringify(traces)},${JSON.stringify(recorders)}`;
}

/** In memory of their own: a part of a shared pool would reach the other thread with all of the pool. */
function joinBodies(bodies: Uint8Array[]): Uint8Array {
  const joined = Buffer.allocUnsafeSlow(bodies.reduce((size, { length }) => size + length, 0));
  let start = 0;
  for (const body of bodies) {
    joined.set(body, start);
    start += body.length;
  }
  return joined;
}

/** The bodies as they are stored: those of a batch that was full are compressed, however few of them are left. */
export function packBodies(bodies: Uint8Array, wasFull: boolean): Uint8Array {
  if (!wasFull) return bodies;
  const packed = brotliCompressSync(bodies, { params: COMPRESSION });
  return packed.byteLength < bodies.byteLength ? packed : bodies;
}

/** The bodies of a batch, one after the other, from what is stored. */
export function unpackBodies(items: BatchItem[], stored: Uint8Array): Uint8Array {
  const size = items.reduce((sum, item) => sum + (item?.[2] ?? 0), 0);
  return stored.byteLength === size ? stored : brotliDecompressSync(stored);
}

/** The bodies without those at some positions. */
export function stripBodies(items: BatchItem[], bodies: Uint8Array, positions: ReadonlySet<number>): Uint8Array {
  return joinBodies(decodeBodies(items, bodies).filter((_, position) => !positions.has(position)));
}

/** The items without those at some positions, whose places stay empty. */
export function stripItems(items: BatchItem[], positions: ReadonlySet<number>): BatchItem[] {
  return items.map((item, position) => (positions.has(position) ? null : item));
}

export function decodeItems(items: string): BatchItem[] {
  const [messageIds, userIds, lengths, traces, recorders] = JSON.parse(items) as Columns;
  return messageIds.map((messageId, position) => {
    if (messageId === null) return null;
    const item: BatchItem = [messageId, userIds[position]!, lengths[position]!];
    if (traces) item.push(traces[position], recorders?.[position]);
    return item;
  });
}

export function encodeItems(items: BatchItem[]): string {
  const hasOrigins = items.some((item) => item?.[3] ?? item?.[4]);
  const columns = (hasOrigins ? [0, 1, 2, 3, 4] : [0, 1, 2]).map((column) =>
    items.map((item) => item?.[column] ?? null),
  );
  return JSON.stringify(columns);
}

/** The bodies of a batch, by position; of a delivery that is gone it is empty. */
export function decodeBodies(items: BatchItem[], bodies: Uint8Array): Buffer[] {
  let start = bodies.byteOffset;
  return items.map((item) => {
    const length = item?.[2] ?? 0;
    const body = Buffer.from(bodies.buffer, start, length);
    start += length;
    return body;
  });
}

export function decodeOutcomes(entries: string | null): BatchOutcome[] {
  return entries === null ? [] : (JSON.parse(`[${entries}]`) as BatchOutcome[]);
}

/** The column `entries`: a list without brackets, so that more can be appended. */
export function encodeOutcomes(outcomes: BatchOutcome[]): string {
  return outcomes.map((outcome) => JSON.stringify(outcome)).join(',');
}
