import { Fifo } from '../../client/delivery/fifo.js';
import type { NewDelivery } from '../../webhook-destination/queue/delivery.interface.js';
import type { RetentionBound } from '../../webhook-destination/queue/retention.options.js';

/** Messages that were accepted together. */
interface AcceptedBatch {
  /** Key of their destination and source. */
  scope: string;
  messageIds: string[];
  /** When they were accepted, in ms since the epoch. */
  acceptedAt: number;
}

/** Remembers which messages were accepted. */
export class AcceptedMessages {
  /** Message ids by scope. */
  private readonly scopes = new Map<string, Set<string>>();
  /** Oldest first. */
  private readonly batches = new Fifo<AcceptedBatch>();
  private count = 0;

  constructor(private readonly bound: Required<RetentionBound>) {}

  /** Records the message ids of a batch for one destination and source; returns the deliveries whose ids are known. */
  add(deliveries: NewDelivery[], now: number): NewDelivery[] {
    this.forget(now);
    const scope = scopeOf(deliveries[0]!);
    const known = this.scopes.get(scope) ?? new Set();
    this.scopes.set(scope, known);
    const repeated: NewDelivery[] = [];
    const messageIds: string[] = [];
    for (const delivery of deliveries) {
      const { messageId } = delivery;
      const { size } = known;
      if (known.add(messageId).size === size) repeated.push(delivery);
      else messageIds.push(messageId);
    }
    if (messageIds.length > 0) this.batches.push({ scope, messageIds, acceptedAt: now });
    this.count += messageIds.length;
    return repeated;
  }

  /** Whether a message is remembered for a destination. */
  has(message: Pick<NewDelivery, 'destination' | 'source' | 'messageId'>, now: number): boolean {
    this.forget(now);
    return this.scopes.get(scopeOf(message))?.has(message.messageId) ?? false;
  }

  /** Forgets the oldest batches that are past a bound. */
  forget(now: number): void {
    const { age, count } = this.bound;
    for (let oldest = this.batches.peek(); oldest; oldest = this.batches.peek()) {
      if (this.count <= count && oldest.acceptedAt > now - age) return;
      this.batches.shift();
      this.count -= oldest.messageIds.length;
      const known = this.scopes.get(oldest.scope)!;
      for (const messageId of oldest.messageIds) known.delete(messageId);
      if (known.size === 0) this.scopes.delete(oldest.scope);
    }
  }
}

function scopeOf({ destination, source }: Pick<NewDelivery, 'destination' | 'source'>): string {
  return `${destination.length} ${destination}${source}`;
}
