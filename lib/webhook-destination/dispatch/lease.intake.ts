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
  private concurrency = 0;
  /** Runs while it rests. */
  private timer: NodeJS.Timeout | undefined;

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
    if (this.subscription?.closed === false && concurrency === this.concurrency) return;
    this.end();
    this.concurrency = concurrency;
    this.subscription = this.queue?.consume(this.destination, concurrency).subscribe({
      next: (lease) => this.handler.handle(lease),
      error: (error) => this.handler.readFailed(error),
    });
  }

  /** Leases no deliveries until a moment, in ms since the epoch, unless it rests already. */
  restUntil(moment: number, resume: () => void): void {
    if (!this.queue || this.timer) return;
    this.end();
    this.timer = setTimeout(resume, delayUntil(moment, this.now())).unref();
  }

  private end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.subscription?.unsubscribe();
    this.subscription = undefined;
  }
}
