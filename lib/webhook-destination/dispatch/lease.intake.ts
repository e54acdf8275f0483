import type { Subscription } from 'rxjs';

import { delayUntil } from '../../client/timer.limits.js';
import type { DeliveryQueue, Lease } from '../queue/delivery-queue.interface.js';

/** Handles the deliveries of a destination. */
export interface LeaseHandler {
  handle(lease: Lease): void;
  /** Called when the queue ends the consumption. */
  readFailed(error: unknown): void;
}

/** Leases the deliveries of one destination from the queue, except while it rests. */
export class LeaseIntake {
  private queue: Pick<DeliveryQueue, 'consume'> | undefined;
  private subscription: Subscription | undefined;
  /** Runs while it rests. */
  private timer: NodeJS.Timeout | undefined;
  private resumesAt = Infinity;

  /** @param now returns the queue's time, in ms since the epoch */
  constructor(
    private readonly destination: string,
    private readonly handler: LeaseHandler,
    private readonly now: () => number,
  ) {}

  start(queue: Pick<DeliveryQueue, 'consume'>, concurrency: number): void {
    this.queue = queue;
    this.take(concurrency);
  }

  stop(): void {
    this.queue = undefined;
    this.end();
  }

  /** Leases at most this number of deliveries at once from now on. */
  take(concurrency: number): void {
    this.end();
    this.consume(concurrency);
  }

  /**
   * Leases no deliveries until a moment, in ms since the epoch. Of several moments, the earliest counts.
   * @returns whether it rests until this one
   */
  restUntil(moment: number, resume: () => void): boolean {
    if (!this.queue || moment >= this.resumesAt) return false;
    this.end();
    this.resumesAt = moment;
    this.timer = setTimeout(resume, delayUntil(moment, this.now())).unref();
    return true;
  }

  /** Leases deliveries; see `DeliveryQueue.consume` for `windowBefore`. */
  consume(concurrency: number, windowBefore?: number): void {
    this.subscription = this.queue?.consume(this.destination, concurrency, windowBefore).subscribe({
      next: (lease) => this.handler.handle(lease),
      error: (error) => this.handler.readFailed(error),
    });
  }

  private end(): void {
    clearTimeout(this.timer);
    this.resumesAt = Infinity;
    this.subscription?.unsubscribe();
    this.subscription = undefined;
  }
}
