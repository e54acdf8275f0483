import { Fifo } from '../../../client/delivery/fifo.js';
import type { NewDelivery } from '../delivery-queue.interface.js';
import type { RetentionBound } from '../retention.options.js';

/** Messages that were accepted together. */
interface AcceptedBatch {
  /** Names their destination and source. */
  scope: string;
  messageIds: string[];
  /** In ms since the epoch. */
  acceptedAt: number;
}

/** Remembers which messages were accepted. */
export class AcceptedMessages {
  /** The batch of each message id, by scope. */
  private readonly scopes = new Map<string, Map<string, AcceptedBatch>>();
  /** The oldest first. */
  private readonly batches = new Fifo<AcceptedBatch>();
  private count = 0;

  constructor(private readonly bound: Required<RetentionBound>) {}

  /** Those of a batch, of one destination and source, that are not remembered; they are from now on. */
  add(deliveries: NewDelivery[], now: number): NewDelivery[] {
    const { destination, source } = deliveries[0]!;
    const scope = `${destination.length} ${destination}${source}`;
    const known = this.scopes.get(scope) ?? new Map<string, AcceptedBatch>();
    this.scopes.set(scope, known);
    const batch: AcceptedBatch = { scope, messageIds: [], acceptedAt: now };
    const added = deliveries.filter(({ messageId }) => {
      const earlier = known.get(messageId);
      if (earlier && earlier.acceptedAt > now - this.bound.age) return false;
      known.set(messageId, batch);
      batch.messageIds.push(messageId);
      return true;
    });
    if (added.length > 0) this.batches.push(batch);
    this.count += added.length;
    this.forget(now);
    return added;
  }

  /** Forgets the oldest batches that are past a bound. */
  forget(now: number): void {
    const { age, count } = this.bound;
    for (let oldest = this.batches.peek(); oldest; oldest = this.batches.peek()) {
      if (this.count <= count && oldest.acceptedAt > now - age) return;
      this.batches.shift();
      this.count -= oldest.messageIds.length;
      const known = this.scopes.get(oldest.scope)!;
      // One that was accepted again since belongs to a later batch.
      for (const messageId of oldest.messageIds) if (known.get(messageId) === oldest) known.delete(messageId);
      if (known.size === 0) this.scopes.delete(oldest.scope);
    }
  }
}
