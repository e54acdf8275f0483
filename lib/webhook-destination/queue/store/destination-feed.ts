import type { Subscriber } from 'rxjs';

import { Fifo } from '../../../client/delivery/fifo.js';
import { delayUntil } from '../../../client/timer.limits.js';
import { errorMessage } from '../../../common/error.util.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import type { Delivery, Lease, NewDelivery } from '../delivery-queue.interface.js';
import type { DeliveryStore, Settlement } from './delivery-store.interface.js';

/**
 * Deliveries handed out whose outcome is not recorded, as a multiple of the concurrency: attempts go on while the store
 * writes, but no more than these could go out twice after a crash.
 */
const UNRECORDED_FACTOR = 3;

/** Deliveries held in memory, as a multiple of the concurrency: enough that the consumer never waits for the store. */
const WINDOW_FACTOR = 16;

/** The same where other processes take deliveries too. */
const SHARED_WINDOW_FACTOR = 4;

/** Most bytes of bodies held in memory, give or take what is accepted or stored together. */
const WINDOW_BYTES = 16 * 1024 * 1024;

/** How long a failed read of the store is left alone, in ms. */
const STORE_RETRY_DELAY = 1_000;

/**
 * Records what became of a leased delivery, or gives it back. Calls `onEnd` when its lease has ended, then resolves with
 * whether it was leased still.
 */
export type Settle = (settlement: Settlement, onEnd: () => void) => Promise<boolean>;

/** What a feed is made with, beside its store. */
export interface FeedOptions {
  destination: string;
  concurrency: number;
  /** As in `DeliveryQueue.consume`; Infinity for all deliveries. */
  windowBefore: number;
  subscriber: Subscriber<Lease>;
  settle: Settle;
  /** The queue's deliveries that are ready or handed out, and have no outcome on record. */
  leased: Set<Delivery>;
  /** The claims under way. */
  claims: Set<Promise<unknown>>;
  /** The queue's time, in ms since the epoch. */
  now: () => number;
}

/**
 * Hands one destination's deliveries to its consumer: the newly accepted straight from memory while there is room,
 * all others from the store when they are due.
 */
export class DestinationFeed {
  private readonly logger: LimitedLogger;
  private readonly ready = new Fifo<Delivery>();
  private readonly window: number;
  /** Places taken in the window: deliveries on their way into the store, ready, with the consumer, or being recorded. */
  private held = 0;
  /** Bytes of their bodies. */
  private heldBytes = 0;
  /** Handed out, and not settled; or not recorded, where they were not delivered. */
  private inFlight = 0;
  /** Handed out, and not recorded. */
  private unrecorded = 0;
  private pumping = false;
  /** Whether the store may hold due deliveries that are not leased; what is accepted meanwhile queues up behind them. */
  private backlog = true;
  private claiming = false;
  private timer: NodeJS.Timeout | undefined;
  private timerDueAt = Infinity;
  /** Runs while a store that could not be read is left alone. */
  private retryTimer: NodeJS.Timeout | undefined;
  private stopped = false;
  private idleWaiters: (() => void)[] = [];

  constructor(
    private readonly store: DeliveryStore,
    private readonly options: FeedOptions,
  ) {
    this.window = options.concurrency * (store.isShared ? SHARED_WINDOW_FACTOR : WINDOW_FACTOR);
    this.logger = new LimitedLogger(`DeliveryQueue(${options.destination})`);
  }

  /** Takes places for deliveries that are being stored, unless the window is full or older ones wait in the store. */
  reserve(deliveries: NewDelivery[]): boolean {
    if (this.isFinite) return false;
    const held = this.store.isShared ? this.held + deliveries.length - 1 : this.held;
    this.backlog ||= this.claiming || held >= this.window || this.heldBytes >= WINDOW_BYTES;
    if (!this.backlog) this.hold(deliveries);
    return !this.backlog;
  }

  /** Hands over what was stored of the deliveries that have places, and gives the places of the others back. */
  push(deliveries: Delivery[], reserved: NewDelivery[]): void {
    for (const delivery of reserved) this.drop(delivery);
    this.take(deliveries);
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
    this.timer = setTimeout(
      () => {
        this.timerDueAt = Infinity;
        this.wake();
      },
      delayUntil(moment, this.options.now()),
    );
    this.timer.unref();
  }

  /** Drops what was not handed out, and has been removed from the store. */
  forget(isRemoved: (delivery: Delivery) => boolean): void {
    for (const delivery of this.ready.drain()) {
      if (isRemoved(delivery)) {
        this.options.leased.delete(delivery);
        this.drop(delivery);
      } else {
        this.ready.push(delivery);
      }
    }
    this.pump();
  }

  /** Tells that the store, which could not be read, was opened anew. */
  restart(): void {
    this.endRetryTimer();
    this.wake();
  }

  /** Resolves once no due delivery is left to hand out, and what became of those handed out is recorded. */
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
    this.endRetryTimer();
    this.pump();
  }

  private pump(): void {
    // A consumer may settle what it has just been handed.
    if (this.pumping) return;
    this.pumping = true;
    while (this.canHandOut()) {
      this.inFlight++;
      this.unrecorded++;
      this.options.subscriber.next(this.toLease(this.ready.shift()!));
    }
    this.pumping = false;
    if (this.stopped) this.giveBack();
    else this.refill();
    if (this.held > 0 || this.claiming || (this.backlog && !this.stopped)) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
    if (this.isFinite) this.options.subscriber.complete();
  }

  private get isFinite(): boolean {
    return this.options.windowBefore !== Infinity;
  }

  private canHandOut(): boolean {
    return (
      !this.stopped &&
      this.ready.length > 0 &&
      this.inFlight < this.options.concurrency &&
      this.unrecorded < this.options.concurrency * UNRECORDED_FACTOR
    );
  }

  private toLease(delivery: Delivery): Lease {
    let settled = false;
    return {
      delivery,
      settle: (outcome) => {
        if (settled) return Promise.resolve(false);
        settled = true;
        // What was not delivered becomes a row of its own. It keeps its place until then, or a destination that is down
        // would fill the commits that others wait for.
        const isPlaceFree = outcome?.state === 'delivered';
        if (isPlaceFree) this.inFlight--;
        const recorded = this.options.settle({ delivery, outcome }, () => {
          if (!isPlaceFree) this.inFlight--;
          this.unrecorded--;
          this.drop(delivery);
          this.pump();
        });
        if (isPlaceFree) this.pump();
        return recorded;
      },
    };
  }

  private hold(deliveries: NewDelivery[]): void {
    this.held += deliveries.length;
    for (const { body } of deliveries) this.heldBytes += body.length;
  }

  private take(deliveries: Delivery[]): void {
    this.hold(deliveries);
    for (const delivery of deliveries) {
      this.options.leased.add(delivery);
      this.ready.push(delivery);
    }
  }

  private drop({ body }: NewDelivery): void {
    this.held--;
    this.heldBytes -= body.length;
  }

  private giveBack(): void {
    for (const delivery of this.ready.drain()) {
      this.drop(delivery);
      // What the closing store does not take back is due again when it is opened.
      this.options.settle({ delivery, outcome: undefined }, () => undefined).catch(() => undefined);
    }
  }

  private refill(): void {
    const { destination, concurrency, windowBefore, now } = this.options;
    const room = this.window - this.held;
    if (this.stopped || this.claiming || !this.backlog || this.retryTimer) return;
    if (room < concurrency || this.heldBytes >= WINDOW_BYTES) return;
    this.claiming = true;
    this.backlog = false;
    const claim = this.store
      .claim(destination, { deliveries: room, bytes: WINDOW_BYTES - this.heldBytes, windowBefore }, now())
      .then(
        ({ deliveries, more, nextDueAt }) => {
          this.logger.succeeded();
          this.take(deliveries);
          this.backlog ||= more;
          if (nextDueAt !== undefined && !this.isFinite) this.wakeAt(nextDueAt);
        },
        (error: unknown) => {
          if (this.stopped) return;
          this.logger.failed(`Due deliveries could not be read, trying again: ${errorMessage(error)}`);
          this.backlog = true;
          this.retryTimer = setTimeout(() => {
            this.endRetryTimer();
            this.refill();
          }, STORE_RETRY_DELAY);
          this.retryTimer.unref();
        },
      )
      .finally(() => {
        this.claiming = false;
        this.options.claims.delete(claim);
        this.pump();
      });
    this.options.claims.add(claim);
  }

  private endRetryTimer(): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
  }
}
