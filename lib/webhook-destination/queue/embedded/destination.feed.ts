import { Logger } from '@nestjs/common';
import type { Subscriber } from 'rxjs';

import { describe } from '../../../common/error.util.js';
import type { Delivery, DeliveryQuery, Lease } from '../delivery-queue.interface.js';
import type { DeliveryStore, Settlement } from './delivery-store.interface.js';

/** Deliveries held in memory, as a multiple of the concurrency: enough that the consumer never waits for the store. */
const WINDOW_FACTOR = 16;

/** How long a failed read of the store is left alone, in ms. */
const STORE_RETRY_DELAY = 1_000;

/** Longest delay that a timer takes; a later moment is reached in steps. */
const MAX_TIMER_DELAY = 2 ** 31 - 1;

/** Settles a leased delivery, or gives it back; calls `onEnd`, then resolves with whether it was leased still. */
export type Settle = (settlement: Settlement, onEnd: () => void) => Promise<boolean>;

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
  /** Whether the store may hold due deliveries that are not leased; what is accepted meanwhile queues up behind them. */
  private backlog = true;
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
    private readonly settle: Settle,
  ) {
    this.window = concurrency * WINDOW_FACTOR;
    this.logger = new Logger(`DeliveryQueue(${destination})`);
  }

  /** Takes places for deliveries that are being stored, unless the window is full or older ones wait in the store. */
  reserve(count: number): boolean {
    this.backlog ||= this.claiming || this.held >= this.window;
    if (!this.backlog) this.held += count;
    return !this.backlog;
  }

  /** Gives places back whose deliveries could not be stored. */
  release(count: number): void {
    this.held -= count;
    this.refill();
  }

  /** Hands over the deliveries for which so many places were taken. */
  push(deliveries: Delivery[], places: number): void {
    this.held -= places - deliveries.length;
    this.ready.push(...deliveries);
    this.pump();
  }

  /** Tells that the store may hold due deliveries. */
  wake(): void {
    this.backlog = true;
    this.refill();
  }

  /** Tells that the store holds a delivery that falls due then, in ms since the epoch. */
  wakeAt(moment: number): void {
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

  /** Drops deliveries that match and were not handed out: the store has removed them. */
  forget({ state = 'delivering', ...fields }: DeliveryQuery): void {
    if (state !== 'delivering') return;
    const wanted = Object.entries(fields).filter(([, value]) => value !== undefined) as [keyof Delivery, string][];
    const kept = this.ready.filter((delivery) => wanted.some(([field, value]) => delivery[field] !== value));
    this.held -= this.ready.length - kept.length;
    this.ready.splice(0, this.ready.length, ...kept);
    this.pump();
  }

  /** Resolves once no due delivery is left to hand out, and all that were handed out are settled. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.pump();
    });
  }

  /** Hands out no more, and gives back what was not handed out. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.giveBack();
  }

  private pump(): void {
    while (!this.stopped && this.inFlight < this.concurrency && this.ready.length > 0) {
      const delivery = this.ready.shift()!;
      this.inFlight++;
      this.subscriber.next(this.toLease(delivery));
    }
    if (this.stopped) this.giveBack();
    else this.refill();
    if (this.held > 0 || this.backlog || this.claiming) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private toLease(delivery: Delivery): Lease {
    let settled = false;
    return {
      delivery,
      settle: (outcome) => {
        if (settled) return Promise.resolve(false);
        settled = true;
        return this.settle({ delivery, outcome }, this.onSettled);
      },
    };
  }

  private readonly onSettled = (): void => {
    this.inFlight--;
    this.held--;
    this.pump();
  };

  private giveBack(): void {
    this.held -= this.ready.length;
    for (const delivery of this.ready.splice(0)) {
      // What the closing store does not take back is due again when it is opened.
      this.settle({ delivery, outcome: undefined }, () => undefined).catch(() => undefined);
    }
  }

  private refill(): void {
    const room = this.window - this.held;
    if (this.stopped || this.claiming || !this.backlog || room < this.concurrency) return;
    this.claiming = true;
    this.backlog = false;
    this.store
      .claim(this.destination, room, Date.now())
      .then(
        ({ deliveries, more, nextDueAt }) => {
          this.held += deliveries.length;
          this.ready.push(...deliveries);
          this.backlog ||= more;
          if (nextDueAt !== undefined) this.wakeAt(nextDueAt);
        },
        (error: unknown) => {
          if (this.stopped) return;
          this.logger.error(`Due deliveries could not be read, trying again: ${describe(error)}`);
          this.wakeAt(Date.now() + STORE_RETRY_DELAY);
        },
      )
      .finally(() => {
        this.claiming = false;
        this.pump();
      });
  }
}
