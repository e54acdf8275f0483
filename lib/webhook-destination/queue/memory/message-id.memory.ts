import type { NewDelivery } from '../delivery-queue.interface.js';
import type { RetentionBound } from '../retention.options.js';

/** Remembers which messages were accepted: within both bounds, the latest. */
export class MessageIdMemory {
  /** When each was accepted, in ms since the epoch, the oldest first. */
  private readonly accepted = new Map<string, number>();

  constructor(private readonly bound: Required<RetentionBound>) {}

  /** Those of one destination and source that are new; they are remembered from now on. */
  takeNew(deliveries: NewDelivery[], now: number): NewDelivery[] {
    const start = JSON.stringify([deliveries[0]?.destination, deliveries[0]?.source]);
    const fresh = deliveries.filter(({ messageId }) => {
      const key = start + messageId;
      const before = this.accepted.get(key);
      if (before !== undefined && before > now - this.bound.age) return false;
      if (before !== undefined) this.accepted.delete(key);
      this.accepted.set(key, now);
      return true;
    });
    this.trim(now);
    return fresh;
  }

  private trim(now: number): void {
    for (const [key, at] of this.accepted) {
      if (this.accepted.size <= this.bound.count && at > now - this.bound.age) return;
      this.accepted.delete(key);
    }
  }
}
