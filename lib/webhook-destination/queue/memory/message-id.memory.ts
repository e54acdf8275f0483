import type { NewDelivery } from '../delivery-queue.interface.js';
import { AcceptedIds, type AcceptedMessages } from '../embedded/accepted.ids.cjs';
import { AcceptedSlices } from '../embedded/accepted.slices.cjs';
import type { RetentionBound } from '../retention.options.js';

interface AcceptedBatch extends AcceptedMessages {
  /** In ms since the epoch. */
  acceptedAt: number;
}

/** Remembers which messages were accepted, within both bounds. */
export class MessageIdMemory {
  private readonly ids = new AcceptedIds();
  private readonly slices: AcceptedSlices;
  /** Those remembered, the oldest first, without gaps in their numbers. */
  private readonly batches: AcceptedBatch[] = [];
  private lastBatch = 0;

  constructor(private readonly bound: Required<RetentionBound>) {
    this.slices = new AcceptedSlices(bound);
  }

  /** Those of one destination and source that are new; they are remembered from now on. */
  takeNew(deliveries: NewDelivery[], now: number): NewDelivery[] {
    const { destination, source } = deliveries[0]!;
    const messageIds = deliveries.map(({ messageId }) => messageId);
    const batch: AcceptedBatch = { batch: this.lastBatch + 1, destination, source, messageIds, acceptedAt: now };
    const repeated = this.ids.add(batch, (other, messageId) => this.has(other, batch, messageId));
    if (repeated.length === deliveries.length) return [];
    this.lastBatch++;
    this.batches.push(batch);
    this.slices.note(this.lastBatch, deliveries.length - repeated.length, now);
    this.trim(now);
    return repeated.length === 0 ? deliveries : deliveries.filter((_, position) => !repeated.includes(position));
  }

  /** Number of the last batch that is not remembered any more. */
  private get forgotten(): number {
    return this.lastBatch - this.batches.length;
  }

  private trim(now: number): void {
    const last = this.slices.trim(now);
    if (last === undefined) return;
    this.batches.splice(0, last - this.forgotten);
    this.ids.forgetUpTo(last);
  }

  private has(number: number, { destination, source, acceptedAt }: AcceptedBatch, messageId: string): boolean {
    const known = this.batches[number - this.forgotten - 1];
    return (
      known?.destination === destination &&
      known.source === source &&
      known.acceptedAt > acceptedAt - this.bound.age &&
      known.messageIds.includes(messageId)
    );
  }
}
