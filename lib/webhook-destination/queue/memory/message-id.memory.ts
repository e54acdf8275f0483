import type { NewDelivery } from '../delivery-queue.interface.js';
import type { RetentionBound } from '../retention.options.js';

/** When messages of one destination and source were accepted, in s since the epoch, the oldest first. */
type Accepted = Map<string, number>;

/** Remembers which messages were accepted, within both bounds. */
export class MessageIdMemory {
  private readonly accepted = new Map<string, Accepted>();
  private count = 0;

  constructor(private readonly bound: Required<RetentionBound>) {}

  /** Those of one destination and source that are new; they are remembered from now on. */
  takeNew(deliveries: NewDelivery[], now: number): NewDelivery[] {
    const accepted = this.acceptedOf(deliveries[0]!);
    const before = accepted.size;
    const start = now - this.bound.age;
    const second = Math.floor(now / 1_000);
    const fresh = deliveries.filter(({ messageId }) => {
      const at = accepted.get(messageId);
      if (at !== undefined && at * 1_000 > start) return false;
      if (at !== undefined) accepted.delete(messageId);
      accepted.set(messageId, second);
      return true;
    });
    this.count += accepted.size - before;
    this.trim(accepted, start);
    return fresh;
  }

  private acceptedOf({ destination, source }: NewDelivery): Accepted {
    const key = JSON.stringify([destination, source]);
    let accepted = this.accepted.get(key);
    if (!accepted) this.accepted.set(key, (accepted = new Map<string, number>()));
    return accepted;
  }

  private trim(accepted: Accepted, start: number): void {
    for (const [messageId, at] of accepted) {
      if (this.count <= this.bound.count && at * 1_000 > start) return;
      accepted.delete(messageId);
      this.count--;
    }
  }
}
