import { setTimeout as sleep } from 'node:timers/promises';

import type { Subscriber } from 'rxjs';

import { errorMessage } from '../../../client/error.util.js';
import { MAX_TIMER_DELAY } from '../../../client/timer.limits.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import type { DeliveryOutcome, Lease } from '../delivery-queue.interface.js';
import type { SteadyClock } from '../steady-clock.js';
import { isLost, type JobLeases, type LeasedJob } from './job-leases.js';

/** Wait after a failed store operation, in ms. */
const RETRY_DELAY = 500;

/** Upper bound of the minimum wait between two tries to take jobs, while the store holds due jobs back, in ms. */
const LONGEST_LEAST_WAIT = 1_000;

/** Upkeep runs between two checks for lost leases, while there is always a job to take. */
const BUSY_LOOKS = 3;

/** Leases the due jobs of one destination to its subscriber, oldest first, up to the concurrency. */
export class DestinationConsumer {
  /** When the next job falls due, in ms since the epoch; undefined if that was unknown when no job was due. */
  dueAt: number | undefined;
  /** Settles once no job is due or the concurrency is reached. */
  taking: Promise<void> | undefined;
  /** Whether it needs no upkeep until `requestTake` is called. */
  isAsleep = false;
  private readonly logger: LimitedLogger;
  /** Store operations in progress: taking, settling, returning. */
  private readonly pending = new Set<Promise<unknown>>();
  private closed = false;
  /** Ends the waits after failed writes. Created for the first, because thousands of destinations have consumers. */
  private waits: AbortController | undefined;
  private inFlight = 0;
  private stopped = false;
  /** Whether the store had no due job, and `requestTake` has not been called since. */
  private drained = false;
  /** Number of calls to `requestTake`. */
  private takeRequests = 0;
  private upkeeps = 0;
  private timer: NodeJS.Timeout | undefined;
  private idleWaiters: (() => void)[] = [];

  constructor(
    private readonly leases: JobLeases,
    private readonly subscriber: Subscriber<Lease>,
    private readonly clock: SteadyClock,
    private readonly concurrency: number,
  ) {
    this.logger = new LimitedLogger(`DeliveryQueue(${this.destination})`);
  }

  get destination(): string {
    return this.leases.destination;
  }

  /** Number of leased jobs. */
  get leased(): number {
    return this.leases.count;
  }

  /** Whether it waits for jobs. */
  get isWaiting(): boolean {
    return this.drained && !this.stopped;
  }

  start(): void {
    void this.follow(this.recover().catch(() => undefined)); // `take` fails too, and logs it
    this.requestTake();
  }

  /** Stops taking jobs; those handed out can still be settled. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.checkIdle();
  }

  /** Resolves once every due job is taken and settled. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.checkIdle();
    });
  }

  /** Stops, waits for pending store operations, and releases all leases. */
  async close(): Promise<void> {
    this.closed = true;
    this.waits?.abort();
    this.stop();
    // A job taken after the release would stay leased, and a job released too early could be taken again.
    while (this.pending.size > 0) await Promise.allSettled(this.pending);
    await this.leases.releaseAll();
  }

  /** To be called when there may be a due job. */
  requestTake(): void {
    this.takeRequests++;
    this.drained = false;
    this.isAsleep = false;
    this.take();
  }

  /** Renews the leases of this consumer, and recovers those of ended processes now and then. */
  async keepUp(): Promise<void> {
    await this.leases.renew();
    if (!this.isWaiting && !this.stopped && ++this.upkeeps % BUSY_LOOKS === 0) await this.recover();
  }

  /** Makes jobs due again whose lease ended with its process. */
  async recover(): Promise<void> {
    if (await this.leases.recoverStalled()) this.requestTake();
  }

  private get canTake(): boolean {
    return !this.stopped && !this.drained && this.inFlight < this.concurrency;
  }

  private take(): void {
    if (this.taking || !this.canTake) return;
    clearTimeout(this.timer);
    this.taking = this.takeAll().finally(() => (this.taking = undefined));
    void this.follow(this.taking);
  }

  private async takeAll(): Promise<void> {
    try {
      while (this.canTake) {
        const { takeRequests } = this;
        const { leased, dueAt } = await this.leases.take();
        this.logger.succeeded();
        if (leased) this.emitLease(leased);
        else if (takeRequests === this.takeRequests) this.drain(dueAt);
      }
    } catch (error) {
      if (this.stopped) return;
      this.logger.failed(`Due deliveries could not be read, trying again: ${errorMessage(error)}`);
      this.requestTakeIn(RETRY_DELAY);
    }
  }

  private drain(dueAt: number | undefined): void {
    this.drained = true;
    this.dueAt = dueAt;
    // If the system clock was set back, the store may still hold due jobs back.
    const leastWait = Math.min(this.clock.lead, LONGEST_LEAST_WAIT);
    if (dueAt !== undefined) this.requestTakeIn(Math.max(dueAt - this.clock.now(), leastWait));
  }

  private requestTakeIn(delay: number): void {
    if (this.stopped || delay > MAX_TIMER_DELAY) return;
    this.timer = setTimeout(() => this.requestTake(), Math.max(delay, 1)).unref();
  }

  private emitLease(leased: LeasedJob): void {
    if (this.stopped) {
      // If the store does not take it back, it is due again once its lock expires.
      void this.follow(this.leases.settle(leased, undefined, false).catch(() => this.leases.end(leased)));
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
      // While the settled job still has its place: otherwise another job would be taken for it too.
      if (next) this.emitLease(next);
      return true;
    } catch (error) {
      this.leases.end(leased);
      if (isLost(error)) return false;
      throw error;
    } finally {
      const isFull = this.inFlight-- >= this.concurrency;
      if (isFull || outcome === undefined || outcome.state === 'waiting') this.requestTake();
      this.checkIdle();
    }
  }

  /** Records an outcome, retrying until the store answers. Resolves with the job to deliver next, if any. */
  private async record(leased: LeasedJob, outcome: DeliveryOutcome | undefined): Promise<LeasedJob | undefined> {
    for (let isInDoubt = false; ; isInDoubt = true) {
      try {
        const { leased: next } = await this.leases.settle(leased, outcome, !this.stopped);
        return next;
      } catch (error) {
        if (isLost(error) && isInDoubt && (await this.leases.isRecorded(leased, outcome))) {
          this.leases.end(leased); // an earlier try recorded it, and its answer was lost
          return undefined;
        }
        if (isLost(error) || this.closed) throw error;
        if (!isInDoubt) this.logger.failed(`An outcome could not be recorded, trying again: ${errorMessage(error)}`);
        const { signal } = (this.waits ??= new AbortController());
        await sleep(RETRY_DELAY, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  /** Keeps an operation in `pending` until it has ended. */
  private follow<T>(operation: Promise<T>): Promise<T> {
    this.pending.add(operation);
    const end = () => {
      this.pending.delete(operation);
      this.checkIdle();
    };
    operation.then(end, end);
    return operation;
  }

  private checkIdle(): void {
    const hasEnded = this.stopped && this.pending.size === 0;
    if (this.inFlight > 0 || !(this.drained || hasEnded)) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }
}
