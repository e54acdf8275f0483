import { setTimeout as sleep } from 'node:timers/promises';

import type { Subscriber } from 'rxjs';

import { MAX_TIMER_DELAY } from '../../../client/timer.limits.js';
import { errorMessage } from '../../../common/error.util.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import type { DeliveryOutcome, Lease } from '../delivery-queue.interface.js';
import type { SteadyClock } from '../steady-clock.js';
import { isLost, type JobLeases, type LeasedJob } from './job-leases.js';
import { type JobWaiter, STALLED_INTERVAL } from './shared-store.interface.js';

/** Wait before a store that failed is asked again, in ms. */
const RETRY_DELAY = 500;

/** Longest wait before the store is asked for what is due again, in ms, where it does not hand that out. */
const LONGEST_LEAST_WAIT = 1_000;

/** Leases the due jobs of one destination to its subscriber, the oldest first, as long as there are places. */
export class DestinationConsumer {
  private readonly logger: LimitedLogger;
  private readonly closing = new AbortController();
  private upkeep: NodeJS.Timeout | undefined;
  private recovering: Promise<void> | undefined;
  /** What is under way in the store: taking, settling, giving back. */
  private readonly pending = new Set<Promise<unknown>>();
  private inFlight = 0;
  private stopped = false;
  /** Whether the store had no due job, and nothing has happened since. */
  private drained = false;
  /** How often it was told to look for due jobs. */
  private looks = 0;
  private arrival: Promise<void> | undefined;
  private wake: () => void = () => undefined;
  private idleWaiters: (() => void)[] = [];

  constructor(
    private readonly leases: JobLeases,
    private readonly waiter: JobWaiter,
    private readonly concurrency: number,
    private readonly windowBefore: number,
    private readonly subscriber: Subscriber<Lease>,
    private readonly clock: SteadyClock,
  ) {
    this.logger = new LimitedLogger(`DeliveryQueue(${leases.queue.destination})`);
  }

  start(): void {
    this.upkeep = setInterval(() => this.keepUp(), STALLED_INTERVAL).unref();
    this.keepUp();
    void this.follow(this.run());
  }

  /** Takes no more jobs; what was handed out can still be settled. */
  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.waiter.close();
    this.wake();
  }

  /** Resolves once no due job is left to take, and all that were handed out are settled. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.look();
      this.checkIdle();
    });
  }

  /** Stops, ends what waits for the store, and releases all leases once nothing else is under way. */
  async close(): Promise<void> {
    this.stop();
    this.closing.abort();
    // What is taken later would not be released, and what is released earlier could be taken.
    while (this.pending.size > 0) await Promise.allSettled(this.pending);
    await this.leases.releaseAll();
    clearInterval(this.upkeep);
  }

  /** Tells that there may be a due job. */
  look(): void {
    this.looks++;
    this.drained = false;
    this.wake();
  }

  /** Keeps the leases of this process alive, and finds those that ended with theirs. */
  private keepUp(): void {
    const renewed = this.leases.renew();
    if (this.stopped) return;
    // One after the other: both lock many rows of PostgreSQL, each in an order of its own, and so each other out.
    this.recovering ??= renewed
      .then(() => this.leases.recoverStalled())
      .catch(() => undefined) // fetching fails too, and logs it
      .finally(() => (this.recovering = undefined));
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      try {
        if (this.inFlight >= this.concurrency) await this.woken();
        else await this.fetch();
        this.logger.succeeded();
      } catch (error) {
        if (this.stopped) return;
        this.logger.failed(`Due deliveries could not be read, trying again: ${errorMessage(error)}`);
        await this.woken(RETRY_DELAY);
      }
    }
  }

  private async fetch(): Promise<void> {
    const { looks } = this;
    const { leased, dueAt = Infinity } = await this.leases.take();
    if (leased) return this.hand(leased);
    if (this.stopped || looks !== this.looks) return;
    this.drained = true;
    this.checkIdle();
    if (this.windowBefore !== Infinity) return this.subscriber.complete();
    // Only one at a time waits for an arrival, and it goes on waiting when something else happens first.
    this.arrival ??= this.waiter.wait().finally(() => (this.arrival = undefined));
    // Where the system's clock was set back, the store may not hand out yet what is due.
    const leastWait = Math.min(this.clock.lead, LONGEST_LEAST_WAIT);
    await Promise.race([this.arrival, this.woken(Math.max(dueAt - this.clock.now(), leastWait))]);
    this.drained = false;
  }

  /** Resolves when something happens in this process, or after `delay` ms. */
  private async woken(delay = Infinity): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      if (delay < MAX_TIMER_DELAY) timer = setTimeout(resolve, Math.max(delay, 1));
      timer?.unref();
    });
    clearTimeout(timer);
  }

  private hand(leased: LeasedJob): void {
    // Jobs come in the order in which they were accepted, except for retries.
    const { firstAttemptAt, acceptedAt } = leased.delivery;
    if ((firstAttemptAt ?? acceptedAt) > this.windowBefore) this.subscriber.complete();
    if (this.stopped) {
      // What the store does not take back is due again once its lock has run out.
      void this.follow(this.leases.giveBack(leased).catch(() => undefined));
      return;
    }
    this.inFlight++;
    let settled = false;
    this.subscriber.next({
      delivery: leased.delivery,
      settle: (outcome) => {
        if (settled) return Promise.resolve(false);
        settled = true;
        return this.follow(this.settle(leased, outcome));
      },
    });
  }

  private async settle(leased: LeasedJob, outcome: DeliveryOutcome | undefined): Promise<boolean> {
    try {
      const next = await this.record(leased, outcome);
      if (next) queueMicrotask(() => this.hand(next));
      return true;
    } catch (error) {
      this.leases.end(leased);
      if (isLost(error)) return false;
      throw error;
    } finally {
      const isFull = this.inFlight-- >= this.concurrency;
      if (isFull || outcome === undefined || outcome.state === 'waiting') this.look();
      this.checkIdle();
    }
  }

  /** Resolves with the job that is to be delivered next; tries again until the store answers. */
  private async record(leased: LeasedJob, outcome: DeliveryOutcome | undefined): Promise<LeasedJob | undefined> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        const { leased: next } = await this.leases.settle(leased, outcome, !this.stopped);
        return next;
      } catch (error) {
        if (isLost(error) || this.closing.signal.aborted) throw error;
        if (isFirst) this.logger.failed(`An outcome could not be recorded, trying again: ${errorMessage(error)}`);
        await sleep(RETRY_DELAY, undefined, { ref: false, signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }

  /** Counts an operation as under way until it has ended. */
  private follow<T>(operation: Promise<T>): Promise<T> {
    const ended: Promise<unknown> = operation.then(
      () => this.pending.delete(ended),
      () => this.pending.delete(ended),
    );
    this.pending.add(ended);
    void ended.then(() => this.checkIdle());
    return operation;
  }

  private checkIdle(): void {
    const hasEnded = this.stopped && this.pending.size === 0;
    if (this.inFlight > 0 || !(this.drained || hasEnded)) return;
    if (hasEnded) clearInterval(this.upkeep);
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }
}
