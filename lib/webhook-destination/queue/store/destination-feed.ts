import { setTimeout as sleep } from 'node:timers/promises';

import type { Subscriber } from 'rxjs';

import { Fifo } from '../../../client/delivery/fifo.js';
import { errorMessage } from '../../../client/error.util.js';
import { delayUntil } from '../../../client/timer.limits.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import type { Delivery, Lease, NewDelivery } from '../delivery.interface.js';
import type { DeliveryStore } from './delivery-store.interface.js';
import { MemoryWindow } from './memory-window.js';
import type { SettlementWriter } from './settlement.writer.js';

/**
 * Maximum number of leases without a recorded outcome, as a multiple of the concurrency: attempts continue while the
 * store writes, and at most this many deliveries are sent twice after a crash.
 */
const UNRECORDED_FACTOR = 3;

/** Wait after a failed read of the store, in ms. */
const STORE_RETRY_DELAY = 1_000;

/** Parameters of a feed, besides its store. */
interface FeedOptions {
  destination: string;
  concurrency: number;
  /** Whether only as many deliveries are leased as may be unsettled. */
  isLimited: boolean;
  subscriber: Subscriber<Lease>;
  settle: SettlementWriter['write'];
  /** The queue's deliveries that are ready or handed out, without a recorded outcome, by id. */
  leased: Map<string, Delivery>;
  /** Those whose lease is over. */
  withdrawn: WeakSet<Delivery>;
  /** Leases granted before the end of an earlier one was known, by the earlier one. */
  early: WeakMap<Delivery, Delivery>;
  /** Total size of the bodies that the queue's feeds hold, in bytes. */
  total: { bytes: number };
  /** The claims in progress. */
  claims: Set<Promise<unknown>>;
  /** The queue's time, in ms since the epoch. */
  now: () => number;
}

/**
 * Hands one destination's deliveries to its consumer: new ones straight from memory while there is room, all others
 * from the store when they are due.
 *
 * The feed is in one of these modes:
 *
 * - direct: the store holds nothing that is due, so what is added is handed out from memory.
 * - behind: the store may hold something due, and what is added queues up there until there is room for a claim.
 * - claiming: due deliveries are being read; what is added meanwhile queues up behind them.
 * - retrying: the store could not be read.
 * - stopped: nothing is handed out, and what was not handed out returns to the store. Leases can still be settled.
 *
 *     direct -> behind      there is no room for what is added, or a delivery in the store falls due
 *     behind -> claiming    there is room
 *     claiming -> direct    nothing else is due
 *     claiming -> behind    more is due, or was added meanwhile
 *     claiming -> retrying  the store cannot be read
 *     retrying -> behind    `STORE_RETRY_DELAY` has passed, or the store has been reopened
 *     any -> stopped        stop
 */
export class DestinationFeed {
  private readonly logger = new LimitedLogger(`DeliveryQueue(${this.options.destination})`);
  private readonly ready = new Fifo<Delivery>();
  private readonly window = new MemoryWindow(
    this.options.concurrency,
    this.store.isShared,
    this.options.total,
    this.options.isLimited,
  );
  /** Deliveries handed out and not settled, or settled as not delivered and not recorded. */
  private inFlight = 0;
  /** Deliveries handed out and not recorded. */
  private unrecorded = 0;
  private pumping = false;
  /** Whether the store may hold unleased due deliveries; new deliveries then queue up behind them. */
  private backlog = true;
  private claiming = false;
  private timer: NodeJS.Timeout | undefined;
  private timerDueAt = Infinity;
  /** Ends the wait after a failed read of the store, which is part of the claim. */
  private retryWait: AbortController | undefined;
  private stopped = false;
  private idleWaiters: (() => void)[] = [];

  constructor(
    private readonly store: DeliveryStore,
    private readonly options: FeedOptions,
  ) {}

  /** Reserves places for deliveries being stored, unless the window is full or older deliveries wait in the store. */
  reserve(deliveries: NewDelivery[]): boolean {
    this.backlog ||= this.claiming || !this.window.takes(deliveries.length);
    if (this.backlog) return false;
    for (const delivery of deliveries) this.window.hold(delivery);
    return true;
  }

  /** Adds the deliveries that were stored, and frees the places of those that were not. */
  push(deliveries: Delivery[], reserved: NewDelivery[]): void {
    for (const delivery of reserved) this.window.drop(delivery);
    this.take(deliveries);
    this.pump();
  }

  /** To be called when the store may hold due deliveries. */
  wake(): void {
    this.backlog = true;
    this.refill();
  }

  /** To be called when a delivery in the store falls due at `moment`, in ms since the epoch. */
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

  /**
   * Drops withdrawn deliveries that are not handed out.
   *
   * @param mayExist whether the store may have some of them, which return to it
   */
  forget(mayExist: boolean): void {
    const { withdrawn, leased } = this.options;
    for (const delivery of this.ready.drain()) {
      if (!withdrawn.has(delivery)) {
        this.ready.push(delivery);
      } else if (mayExist) {
        this.giveBack(delivery);
      } else {
        leased.delete(delivery.id);
        this.window.drop(delivery);
      }
    }
    this.pump();
  }

  /** To be called when the store has been reopened after a failure. */
  restart(): void {
    this.retryWait?.abort();
    this.wake();
  }

  /** Resolves once every due delivery is handed out and its outcome is recorded. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.pump();
    });
  }

  /** Stops handing out deliveries, and returns those not handed out to the store. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.retryWait?.abort();
    this.pump();
  }

  private pump(): void {
    // A consumer may settle a lease synchronously, which calls this again.
    if (this.pumping) return;
    this.pumping = true;
    while (this.canHandOut()) {
      this.inFlight++;
      this.unrecorded++;
      this.options.subscriber.next(this.toLease(this.ready.shift()!));
    }
    this.pumping = false;
    if (this.stopped) this.release();
    else this.refill();
    if (!this.window.isEmpty || this.claiming || (this.backlog && !this.stopped)) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private canHandOut(): boolean {
    return (
      !this.stopped &&
      this.ready.length > 0 &&
      this.inFlight < this.options.concurrency &&
      this.unrecorded < this.options.concurrency * UNRECORDED_FACTOR &&
      this.store.holdsLeases()
    );
  }

  private toLease(delivery: Delivery): Lease {
    let settled = false;
    const { store } = this;
    const { withdrawn } = this.options;
    return {
      delivery,
      get isWithdrawn() {
        return withdrawn.has(delivery) || !store.holdsLeases();
      },
      settle: (outcome) => {
        if (settled) return Promise.resolve(false);
        settled = true;
        // An undelivered one becomes a row of its own and keeps its place until then. Otherwise, a destination that is
        // down would fill the commits that other destinations wait for.
        const isPlaceFree = outcome?.state === 'delivered';
        if (isPlaceFree) this.inFlight--;
        const recorded = this.options.settle({ delivery, outcome }, () => {
          if (!isPlaceFree) this.inFlight--;
          this.unrecorded--;
          this.window.drop(delivery);
          this.pump();
        });
        if (isPlaceFree) this.pump();
        return recorded;
      },
    };
  }

  private isEarly(delivery: Delivery): boolean {
    const earlier = this.options.leased.get(delivery.id);
    if (earlier) this.options.early.set(earlier, delivery);
    return earlier !== undefined;
  }

  private take(deliveries: Delivery[]): void {
    for (const delivery of deliveries) {
      this.window.hold(delivery);
      this.options.leased.set(delivery.id, delivery);
      this.ready.push(delivery);
    }
  }

  private release(): void {
    // The oldest last, because a list has the one that was returned last in front.
    for (const delivery of [...this.ready.drain()].reverse()) this.giveBack(delivery);
  }

  private giveBack(delivery: Delivery): void {
    this.window.drop(delivery);
    // If the closing store does not take it back, it is due again when the store opens.
    this.options.settle({ delivery, outcome: undefined }, () => undefined).catch(() => undefined);
  }

  private refill(): void {
    const { destination, now } = this.options;
    if (this.stopped || this.claiming || !this.backlog) return;
    const room = this.window.reserve();
    if (!room) return;
    this.claiming = true;
    this.backlog = false;
    const claim = this.store
      .claim(destination, room, now())
      .finally(() => this.window.release(room))
      .then(
        ({ deliveries, more, nextDueAt }) => {
          this.logger.succeeded();
          this.take(deliveries.filter((delivery) => !this.isEarly(delivery)));
          this.backlog ||= more;
          if (nextDueAt !== undefined) this.wakeAt(nextDueAt);
        },
        async (error: unknown) => {
          if (this.stopped) return;
          this.logger.failed(`Due deliveries could not be read, trying again: ${errorMessage(error)}`);
          this.backlog = true;
          this.retryWait = new AbortController();
          const { signal } = this.retryWait;
          await sleep(STORE_RETRY_DELAY, undefined, { ref: false, signal }).catch(() => undefined);
        },
      )
      .finally(() => {
        this.claiming = false;
        this.options.claims.delete(claim);
        this.pump();
      });
    this.options.claims.add(claim);
  }
}
