import type { DeliveryQueue } from './delivery-queue.interface.js';

/** A queue's time, in ms since the epoch: by it deliveries are accepted, fall due and are planned. */
export function timeOf(queue: DeliveryQueue): number {
  return queue.now?.() ?? Date.now();
}

/**
 * The time that deliveries are planned by. It is that of the system's clock, but never goes back: where the clock is set
 * back, it runs on until the clock has caught up. What was planned before stays as far away as it was.
 */
export class SteadyClock {
  private last = -Infinity;
  private readAt = 0;

  /** @param source the time that it follows, in ms since the epoch; that of the system's clock if it is left out */
  constructor(private readonly source: () => number = () => Date.now()) {}

  /** In whole ms since the epoch. */
  now(): number {
    const readAt = performance.now();
    this.last = Math.max(this.source(), this.last + readAt - this.readAt);
    this.readAt = readAt;
    return Math.floor(this.last);
  }

  /** By how many ms the system's clock is behind. */
  get lead(): number {
    return this.now() - Date.now();
  }
}
