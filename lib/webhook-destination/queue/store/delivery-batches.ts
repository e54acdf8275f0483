import type { NewDelivery } from '../delivery.interface.js';
import { FULL_BATCH, MAX_BATCH } from './delivery-store.interface.js';

/** Deliveries with the same destination, source and acceptance time. */
type Batch = [NewDelivery, ...NewDelivery[]];

/** Groups deliveries by destination, source and acceptance time, in their order. */
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
  return batches;
}
