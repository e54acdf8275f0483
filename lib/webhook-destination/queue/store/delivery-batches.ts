import type { NewDelivery } from '../delivery-queue.interface.js';
import { FULL_BATCH, MAX_BATCH } from './delivery-store.interface.js';

/** Deliveries with the same destination, source and acceptance time. */
type Batch = [NewDelivery, ...NewDelivery[]];

/** Groups deliveries by destination, source and acceptance time, in their order; each batch has its own memory. */
export function toBatches(deliveries: NewDelivery[]): Batch[] {
  const open = new Map<string, { batch: Batch; bytes: number }>();
  const batches: Batch[] = [];
  for (const delivery of deliveries) {
    const last = open.get(delivery.destination);
    const [first] = last?.batch ?? [];
    if (
      last &&
      last.batch.length < MAX_BATCH &&
      last.bytes < FULL_BATCH &&
      first?.source === delivery.source &&
      first.acceptedAt === delivery.acceptedAt
    ) {
      last.batch.push(delivery);
      last.bytes += delivery.body.length;
    } else {
      const started: Batch = [delivery];
      open.set(delivery.destination, { batch: started, bytes: delivery.body.length });
      batches.push(started);
    }
  }
  return batches.map(withOwnMemory);
}

/**
 * Copies the bodies of a batch that uses less than half of the memory that its requests share among their bodies: each
 * body would keep all of its request's in use.
 */
function withOwnMemory(batch: Batch): Batch {
  let used = 0;
  let kept = 0;
  let last: ArrayBufferLike | undefined;
  for (const { body } of batch) {
    const { buffer, length } = body;
    if (buffer.byteLength <= Buffer.poolSize) continue; // it may be Node's pool
    used += length;
    if (buffer !== last) kept += buffer.byteLength;
    last = buffer;
  }
  if (used >= kept / 2) return batch;
  return batch.map((delivery) => ({ ...delivery, body: Buffer.from(delivery.body) })) as Batch;
}
