import { defer, Subject, type Subscription } from 'rxjs';

import { createAsyncScope } from '../../../client/async-scope.util.js';
import type { DestinationConsumer } from './destination.consumer.js';
import { countJobs } from './job.finder.js';
import { UPKEEP_INTERVAL } from './job-leases.js';
import type { RedisStore } from './redis.store.js';

/**
 * Maintains the consumers of a process: one timer renews their leases, and one signal wakes those with due deliveries.
 * All others cost nothing.
 */
export class ConsumerUpkeep {
  private readonly consumers = new Map<string, DestinationConsumer>();
  /** Includes consumers that were unsubscribed but still have jobs in flight. */
  private readonly all = new Set<DestinationConsumer>();
  private readonly unserved = new Subject<string>();
  /** Emits destinations that may have due deliveries but have no consumer in this process. */
  readonly due$ = defer(() => {
    this.start();
    return this.unserved;
  });
  /**
   * To be called when these destinations may have due deliveries. Runs in an async context of its own, not in
   * that of the request that adds or replays them.
   */
  readonly wake = createAsyncScope('ConsumerUpkeep').bind((destinations: string[]): void => {
    for (const name of destinations) {
      const consumer = this.consumers.get(name);
      if (consumer) consumer.requestTake();
      else this.unserved.next(name);
    }
  });
  /** Checks in progress: one that is cut short leaves its destinations postponed. */
  private readonly checks = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private subscription: Subscription | undefined;
  private running = false;

  constructor(private readonly store: RedisStore) {}

  has(destination: string): boolean {
    return this.consumers.has(destination);
  }

  add(consumer: DestinationConsumer): void {
    this.start();
    this.consumers.set(consumer.destination, consumer);
    this.all.add(consumer);
    consumer.start();
  }

  /** Ends a consumer once all its jobs are settled. */
  async end(consumer: DestinationConsumer): Promise<void> {
    // If the queue has been reopened, the destination may have another consumer.
    if (this.consumers.get(consumer.destination) === consumer) this.consumers.delete(consumer.destination);
    consumer.stop();
    await consumer.idle();
    // Not after `close`, which releases the leases and must leave the due list as it is.
    if (this.all.delete(consumer)) await this.leave([consumer.destination]).catch(() => undefined);
  }

  /** Resolves once the consumers have taken and settled every due job. */
  async idle(): Promise<void> {
    await this.poll();
    await Promise.all([...this.consumers.values()].map((consumer) => consumer.idle()));
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    this.subscription?.unsubscribe();
    const all = [...this.all];
    this.all.clear();
    this.consumers.clear();
    await Promise.all([Promise.allSettled(this.checks), ...all.map((consumer) => consumer.close())]);
  }

  /** Starts listening; destinations that are already due are emitted soon after. */
  private start(): void {
    if (this.timer) return;
    const { registry$, due$ } = this.store.signals;
    this.timer = setInterval(() => void this.run(), UPKEEP_INTERVAL).unref();
    this.subscription = registry$.subscribe(() => void this.poll());
    this.subscription.add(due$.subscribe((names) => this.wake(names)));
    void this.poll();
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    const awake = [...this.all].filter(({ isAsleep }) => !isAsleep);
    try {
      await Promise.all(awake.map((consumer) => consumer.keepUp()));
      await this.leave(awake.filter(({ isWaiting }) => isWaiting).map(({ destination }) => destination));
      await this.poll();
    } catch {
      // The connection logs the failure, and the next run tries again.
    } finally {
      this.running = false;
    }
  }

  /** Compensates for lost signals and for processes that ended. */
  private async poll(): Promise<void> {
    try {
      // Including those that fall due before the next poll: their consumers take them on time.
      this.wake(await this.store.due.names(Date.now() + UPKEEP_INTERVAL));
    } catch {
      // As in `run`.
    }
  }

  /** Removes destinations without open deliveries from the due list, and schedules the next check of the others. */
  private async leave(destinations: string[]): Promise<void> {
    if (destinations.length === 0) return;
    const check = this.check(destinations);
    this.checks.add(check);
    await check.finally(() => this.checks.delete(check));
  }

  private async check(destinations: string[]): Promise<void> {
    const { due } = this.store;
    const putOffTo = await due.putOff(destinations);
    // Deliveries added before this are counted now; those added from now on change the list.
    const moments = destinations.map(async (name): Promise<[string, number | undefined]> => {
      return [name, await this.nextLook(name, putOffTo)];
    });
    await due.settle(putOffTo, await Promise.all(moments));
  }

  /** Returns when to check a destination next, in ms since the epoch; undefined if it has no open delivery. */
  private async nextLook(destination: string, putOffTo: number): Promise<number | undefined> {
    const consumer = this.consumers.get(destination);
    const { queued, delivering, waiting } = await countJobs(this.store.queueOf(destination));
    // Without a consumer here, another process or the next start must take retries on time.
    if (queued > 0 || (waiting > 0 && !consumer)) {
      consumer?.requestTake();
      return Date.now();
    }
    if (delivering > 0) {
      if (consumer && delivering > consumer.leased) await consumer.recover();
      return putOffTo;
    }
    if (!consumer) return undefined;
    if (waiting > 0) {
      consumer.requestTake();
      await consumer.taking;
    }
    if (!consumer.isWaiting) return Date.now();
    consumer.isAsleep = consumer.leased === 0;
    return waiting > 0 ? (consumer.dueAt ?? putOffTo) : undefined;
  }
}
