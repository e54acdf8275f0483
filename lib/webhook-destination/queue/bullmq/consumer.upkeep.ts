import { Subject, type Subscription } from 'rxjs';

import type { DestinationConsumer } from './destination.consumer.js';
import { countJobs } from './job.finder.js';
import { UPKEEP_INTERVAL } from './job-leases.js';
import type { RedisStore } from './redis.store.js';

/**
 * The consumers of a process: one timer keeps their leases alive, and one signal tells which of them have something to
 * do. All others cost nothing.
 */
export class ConsumerUpkeep {
  private readonly consumers = new Map<string, DestinationConsumer>();
  /** Those that have jobs in flight included, though nobody consumes any more. */
  private readonly all = new Set<DestinationConsumer>();
  private readonly unserved = new Subject<string>();
  private timer: NodeJS.Timeout | undefined;
  private subscription: Subscription | undefined;
  private running = false;

  /** Names of destinations that may have something due, and no consumer in this process. */
  readonly due$ = this.unserved.asObservable();

  constructor(private readonly store: RedisStore) {}

  /** Begins to listen; what is due by now is named soon. */
  start(): void {
    if (this.timer) return;
    const { registry$, due$ } = this.store.signals;
    this.timer = setInterval(() => void this.run(), UPKEEP_INTERVAL).unref();
    this.subscription = registry$.subscribe(() => void this.poll());
    this.subscription.add(due$.subscribe((names) => this.look(names)));
    void this.poll();
  }

  has(destination: string): boolean {
    return this.consumers.has(destination);
  }

  add(consumer: DestinationConsumer): void {
    this.start();
    this.consumers.set(consumer.destination, consumer);
    this.all.add(consumer);
    consumer.start();
  }

  /** Ends a consumer once nothing of it is in flight. */
  async end(consumer: DestinationConsumer): Promise<void> {
    // After the queue was opened again, the destination may have another one.
    if (this.consumers.get(consumer.destination) === consumer) this.consumers.delete(consumer.destination);
    consumer.stop();
    await consumer.idle();
    // What is closed releases its leases first, and leaves all else as it is.
    if (this.all.delete(consumer)) await this.leave([consumer.destination]).catch(() => undefined);
  }

  /** Tells that these destinations may have something due. */
  look(destinations: string[]): void {
    for (const name of destinations) {
      const consumer = this.consumers.get(name);
      if (consumer) consumer.look();
      else this.unserved.next(name);
    }
  }

  /** Resolves once the consumers have no due job left to take, and all that they took are settled. */
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
    await Promise.all(all.map((consumer) => consumer.close()));
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
      // The connection logs it, and the next time comes.
    } finally {
      this.running = false;
    }
  }

  /** Makes good for signals that were lost, and for processes that ended without a word. */
  private async poll(): Promise<void> {
    try {
      this.look(await this.store.due.names());
    } catch {
      // as above
    }
  }

  /** Takes destinations off the list of those that are due, as far as they have nothing to do. */
  private async leave(destinations: string[]): Promise<void> {
    if (destinations.length === 0) return;
    const { due } = this.store;
    const putOffTo = await due.putOff(destinations);
    // Whatever was added before that is seen now, and what is added from now on changes the list.
    const moments = destinations.map(async (name): Promise<[string, number | undefined]> => {
      return [name, await this.nextLook(name, putOffTo)];
    });
    await due.settle(putOffTo, await Promise.all(moments));
  }

  /** When somebody must look at a destination next, in ms since the epoch; undefined where it has no open delivery. */
  private async nextLook(destination: string, putOffTo: number): Promise<number | undefined> {
    const consumer = this.consumers.get(destination);
    const { queued, delivering, waiting } = await countJobs(this.store.queueOf(destination));
    if (queued > 0) {
      consumer?.look();
      return Date.now();
    }
    if (delivering > 0) {
      if (consumer && delivering > consumer.leased) await consumer.recover();
      return putOffTo;
    }
    if (waiting > 0) {
      if (!consumer) return putOffTo;
      consumer.look();
      await consumer.taking;
    }
    if (!consumer) return undefined;
    if (!consumer.isWaiting) return Date.now();
    consumer.isAsleep = consumer.leased === 0;
    return waiting > 0 ? (consumer.dueAt ?? putOffTo) : undefined;
  }
}
