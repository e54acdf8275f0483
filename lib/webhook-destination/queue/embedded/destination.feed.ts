import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import type { Subscriber } from 'rxjs';

import { describe } from '../../../common/error.util.js';
import type { Delivery, DeliveryOutcome, Lease } from '../delivery-queue.interface.js';
import type { DeliveryStore, Settlement } from './delivery-store.interface.js';

/** Deliveries held in memory, as a multiple of the concurrency: enough that the consumer never waits for the store. */
const WINDOW_FACTOR = 4;

/** How long a failed read of the store is left alone, in ms. */
const STORE_RETRY_DELAY = 1_000;

/** Longest delay that a timer takes; a later moment is reached in steps. */
const MAX_TIMER_DELAY = 2 ** 31 - 1;

/**
 * Hands one destination's deliveries to its consumer: the newly accepted straight from memory while there is room,
 * all others from the store when they are due.
 */
export class DestinationFeed {
  private readonly logger: Logger;
  private readonly ready: Delivery[] = [];
  private readonly window: number;
  /** Places taken in the window: deliveries on their way into the store, ready, or with the consumer. */
  private held = 0;
  private inFlight = 0;
  /** Whether the store may hold due deliveries that are not leased. */
  private backlog = false;
  private claiming = false;
  private timer: NodeJS.Timeout | undefined;
  private timerDueAt = Infinity;
  private stopped = false;
  private idleWaiters: (() => void)[] = [];

  constructor(
    private readonly store: DeliveryStore,
    private readonly destination: string,
    private readonly concurrency: number,
    private readonly subscriber: Subscriber<Lease>,
  ) {
    this.window = concurrency * WINDOW_FACTOR;
    this.logger = new Logger(`DeliveryQueue(${destination})`);
  }

  /** Takes a place for a delivery that is being stored, unless the window is full or older ones wait in the store. */
  reserve(): boolean {
    if (this.backlog || this.held >= this.window) return false;
    this.held++;
    return true;
  }

  /** Gives a place back whose delivery could not be stored. */
  release(): void {
    this.held--;
  }

  /** Hands over a delivery that has a place. */
  push(delivery: Delivery): void {
    this.ready.push(delivery);
    this.pump();
  }

  /** Tells that the store may hold due deliveries. */
  wake(): void {
    this.backlog = true;
    this.refill();
  }

  /** Resolves once no due delivery is left to hand out, and all that were handed out are settled. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.pump();
    });
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private pump(): void {
    while (!this.stopped && this.inFlight < this.concurrency) {
      const delivery = this.ready.shift();
      if (!delivery) break;
      this.inFlight++;
      this.subscriber.next({ delivery, settle: (outcome) => this.settle(delivery, outcome) });
    }
    this.refill();
    if (this.held > 0 || this.backlog || this.claiming) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private async settle({ id }: Delivery, outcome: DeliveryOutcome): Promise<void> {
    try {
      await this.record({ id, outcome });
      if (outcome.state === 'waiting') this.wakeAt(outcome.nextAttemptAt);
    } finally {
      this.inFlight--;
      this.held--;
      this.pump();
    }
  }

  /** An outcome that is not recorded would send the delivery once more, so this waits for the store to recover. */
  private async record(settlement: Settlement): Promise<void> {
    for (;;) {
      try {
        return await this.store.settle(settlement);
      } catch (error) {
        if (this.stopped) throw error;
        this.logger.error(`The outcome of a delivery could not be recorded, trying again: ${describe(error)}`);
        await sleep(STORE_RETRY_DELAY, undefined, { ref: false });
      }
    }
  }

  private refill(): void {
    const room = this.window - this.held;
    if (this.stopped || this.claiming || !this.backlog || room < this.concurrency) return;
    this.claiming = true;
    this.held += room;
    this.backlog = false;
    this.store
      .claim(this.destination, room, Date.now())
      .then(
        ({ deliveries, nextDueAt }) => {
          this.held -= room - deliveries.length;
          this.ready.push(...deliveries);
          if (deliveries.length === room) this.backlog = true;
          else if (nextDueAt !== undefined) this.wakeAt(nextDueAt);
        },
        (error: unknown) => {
          this.held -= room;
          this.logger.error(`Due deliveries could not be read, trying again: ${describe(error)}`);
          this.wakeAt(Date.now() + STORE_RETRY_DELAY);
        },
      )
      .finally(() => {
        this.claiming = false;
        this.pump();
      });
  }

  private wakeAt(moment: number): void {
    if (this.stopped || moment >= this.timerDueAt) return;
    clearTimeout(this.timer);
    this.timerDueAt = moment;
    const delay = Math.min(Math.max(moment - Date.now(), 0), MAX_TIMER_DELAY);
    this.timer = setTimeout(() => {
      this.timerDueAt = Infinity;
      this.wake();
    }, delay);
    this.timer.unref();
  }
}
