import type { NewDelivery } from '../delivery-queue.interface.js';
import { AcceptedIds } from '../embedded/accepted.ids.js';
import { AcceptedSlices } from '../embedded/accepted.slices.js';
import type { RetentionBound } from '../retention.options.js';

/** Remembers which messages were accepted, within both bounds. */
export class MessageIdMemory {
  private readonly ids = new AcceptedIds();
  private readonly slices: AcceptedSlices;
  /** When the batches that are remembered were accepted, the oldest first, in ms since the epoch. */
  private readonly acceptedAt: number[] = [];
  private lastBatch = 0;

  constructor(private readonly bound: Required<RetentionBound>) {
    this.slices = new AcceptedSlices(bound);
  }

  /** Those of one destination and source that are new; they are remembered from now on. */
  takeNew(deliveries: NewDelivery[], now: number): NewDelivery[] {
    const { destination, source } = deliveries[0]!;
    const messageIds = deliveries.map(({ messageId }) => messageId);
    const batch = { batch: this.lastBatch + 1, destination, source, messageIds };
    const repeated = new Set(this.ids.add(batch, this.firstBatch(now)));
    if (repeated.size === deliveries.length) return [];
    this.lastBatch++;
    this.acceptedAt.push(now);
    this.slices.note(this.lastBatch, deliveries.length - repeated.size, now);
    const last = this.slices.trim(now);
    if (last !== undefined) this.ids.forgetUpTo(last);
    return repeated.size === 0 ? deliveries : deliveries.filter((_, position) => !repeated.has(position));
  }

  /** The first batch that is not past its age. */
  private firstBatch(now: number): number {
    let old = 0;
    while (this.acceptedAt[old]! <= now - this.bound.age) old++;
    if (old > 0) this.acceptedAt.splice(0, old);
    return this.lastBatch - this.acceptedAt.length + 1;
  }
}
