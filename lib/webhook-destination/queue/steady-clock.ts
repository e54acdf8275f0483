import type { DeliveryQueue } from './delivery-queue.interface.js';

/** Returns a queue's time, in ms since the epoch: the time that deliveries are accepted and scheduled by. */
export function timeOf(queue: DeliveryQueue): number {
  return queue.now?.() ?? Date.now();
}

/**
 * The clock that deliveries are scheduled by. It follows the system clock but never goes back: if the system clock is
 * set back, this clock runs on until the system clock has caught up. Waits already scheduled keep their length.
 */
export class SteadyClock {
  private last = -Infinity;
  private readAt = 0;

  /** @param source returns the time to follow, in ms since the epoch; the system clock if omitted */
  constructor(private readonly source: () => number = () => Date.now()) {}

  /** Returns the time in whole ms since the epoch. */
  now(): number {
    const readAt = performance.now();
    this.last = Math.max(this.source(), this.last + readAt - this.readAt);
    this.readAt = readAt;
    return Math.floor(this.last);
  }

  /** How far this clock is ahead of the system clock, in ms. */
  get lead(): number {
    return this.now() - Date.now();
  }
}
