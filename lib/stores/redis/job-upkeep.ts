import { BehaviorSubject, defer, merge, mergeAll, NEVER, type Observable, share, Subject, switchMap, tap } from 'rxjs';

import type { StoreOwner } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { fromDeliveryId } from './job.codec.js';
import { countJobs } from './job.finder.js';
import type { JobLeases } from './job-leases.js';
import { type JobQueues, UPKEEP_INTERVAL } from './job-queues.js';

/**
 * What a process does for all its destinations with one timer: renews its leases, recovers those of ended processes,
 * keeps the list of due destinations, and polls it. A destination without open deliveries costs nothing.
 */
export class JobUpkeep {
  private readonly isOpen = new BehaviorSubject(false);
  private readonly polled = new Subject<string>();
  /** Emits destinations that may have due deliveries, while the store is open. */
  readonly names$: Observable<string> = this.isOpen.pipe(
    switchMap((isOpen) => (isOpen ? defer(() => this.follow()) : NEVER)),
    share(),
  );
  /** Destinations to be checked, and when the first of their retries is due by the system clock, if known. */
  private touched = new Map<string, number | undefined>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly store: JobQueues,
    private readonly leases: JobLeases,
  ) {}

  async open(owner: StoreOwner): Promise<void> {
    await this.leases.renew(owner);
    this.timer = setInterval(() => this.run(owner), UPKEEP_INTERVAL).unref();
    this.isOpen.next(true);
  }

  /** To be called for a destination whose deliveries were claimed or settled. */
  touch(destination: string, dueAt: number | undefined): void {
    const known = this.touched.get(destination);
    this.touched.set(
      destination,
      dueAt === undefined || known === undefined ? (dueAt ?? known) : Math.min(dueAt, known),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.isOpen.next(false);
    await this.running;
    this.touched.clear();
  }

  private follow(): Observable<string> {
    void this.poll();
    return merge(
      this.polled,
      // An empty list means that signals may have been missed.
      this.store.signals.due$.pipe(
        tap((names) => names.length === 0 && void this.poll()),
        mergeAll(),
      ),
    );
  }

  private run(owner: StoreOwner): void {
    this.running ??= this.keepUp(owner)
      .catch(() => undefined) // the connection logs the failure, and the next run tries again
      .finally(() => (this.running = undefined));
  }

  private async keepUp(owner: StoreOwner): Promise<void> {
    await this.leases.renew(owner);
    const { touched } = this;
    this.touched = new Map();
    try {
      await this.check(touched, owner.leased());
    } catch (error) {
      for (const [name, dueAt] of touched) this.touch(name, dueAt);
      throw error;
    }
    await this.poll();
  }

  /** Compensates for lost signals and for processes that ended. */
  private async poll(): Promise<void> {
    if (!this.polled.observed) return;
    try {
      // Including those that fall due before the next poll: their consumers take them on time.
      for (const name of await this.store.due.names(Date.now() + UPKEEP_INTERVAL)) this.polled.next(name);
    } catch {
      // As in `run`.
    }
  }

  /** Removes destinations without open deliveries from the due list, and schedules the next check of the others. */
  private async check(touched: Map<string, number | undefined>, leased: string[]): Promise<void> {
    if (touched.size === 0) return;
    const own = new Map<string, number>();
    for (const id of leased) {
      const { queueName } = fromDeliveryId(id);
      own.set(queueName, (own.get(queueName) ?? 0) + 1);
    }
    const { due } = this.store;
    const postponedTo = await due.putOff([...touched.keys()]);
    // Deliveries added before this are counted now; those added from now on change the list.
    this.store.group();
    const moments = Array.from(touched, async ([name, dueAt]): Promise<[string, number | undefined]> => {
      return [name, await this.nextCheck(name, own, dueAt, postponedTo)];
    });
    await due.settle(postponedTo, await Promise.all(moments));
  }

  /** Returns when to check a destination next, in ms since the epoch; undefined if it has no open delivery. */
  private async nextCheck(
    destination: string,
    own: ReadonlyMap<string, number>,
    dueAt: number | undefined,
    postponedTo: number,
  ): Promise<number | undefined> {
    const queue = this.store.queueOf(destination);
    const { queued, delivering, waiting } = await countJobs(queue);
    if (delivering > 0) this.touch(destination, dueAt);
    if (delivering > (own.get(queue.queueName) ?? 0) && (await queue.backend.moveStalledJobsToWait()).length > 0) {
      return Date.now();
    }
    if (queued > 0) return Date.now();
    if (delivering > 0) return postponedTo;
    return waiting > 0 ? (dueAt ?? postponedTo) : undefined;
  }
}
