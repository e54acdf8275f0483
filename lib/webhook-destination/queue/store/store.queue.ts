import {
  ignoreElements,
  merge,
  NEVER,
  Observable,
  share,
  Subject,
  type Subscriber,
  type Subscription,
  tap,
} from 'rxjs';

import { createAsyncScope } from '../../../client/async-scope.util.js';
import { RelayError } from '../../../client/relay.error.js';
import {
  type Delivery,
  type DeliveryCount,
  type DeliveryPage,
  type DeliveryQuery,
  type DeliveryQueue,
  type DeliveryRecord,
  isOpenNotice,
  type Lease,
  type NewDelivery,
  type OldestDelivery,
  type QueueCondition,
  type SweptRecords,
} from '../delivery-queue.interface.js';
import { checkSearch, type DeliveryPortion, type DeliverySearch, searchByList } from '../delivery-search.js';
import { checkPage, checkQuery, matches } from '../query.util.js';
import type { Retention } from '../retention.options.js';
import { SteadyClock } from '../steady-clock.js';
import { DestinationFeed } from './destination-feed.js';
import { toBatches } from './delivery-batches.js';
import { AddTurn } from './add-turn.js';
import type { DeliveryStore } from './delivery-store.interface.js';
import { SettlementWriter } from './settlement.writer.js';

/**
 * A process's queue on an embedded or shared store. New deliveries go to their consumer straight from memory, without
 * being read back.
 */
export class StoreQueue implements DeliveryQueue {
  readonly registry = this.store.registry;
  readonly series = this.store.series;
  readonly peers = this.store.peers;
  private readonly feeds = new Map<string, DestinationFeed>();
  /** Ids of deliveries that are handed out or ready, without a recorded outcome. */
  private leased = new Set<string>();
  /** Total size of the bodies that feeds hold, in bytes. */
  private total = { bytes: 0 };
  private readonly claims = new Set<Promise<unknown>>();
  private readonly clock = new SteadyClock(this.store.now?.bind(this.store));
  /** Async context of writes, reads and timers: they are not part of the request that causes them. */
  private readonly scope = createAsyncScope('StoreQueue');
  private readonly insert = this.scope.bind((deliveries: NewDelivery[], beyondLimit: boolean) =>
    this.insertBatches(deliveries, beyondLimit),
  );
  private readonly turn = new AddTurn((deliveries) => this.insert(deliveries, false), this.store.fullTurn);
  private readonly due = new Subject<string>();
  /** Wakes the feeds of destinations that other processes make due. */
  private readonly others$ = (this.store.due$ ?? NEVER).pipe(
    tap((name) => this.wake(name)),
    share(),
  );
  /** Subscription to `others$` while there is a consumer. */
  private following: Subscription | undefined;
  readonly due$ = merge(this.due, this.others$.pipe(ignoreElements()));
  private writer = this.createWriter();
  private lastScrub = Promise.resolve();
  /** The scrub that has not begun. */
  private nextScrub: Promise<void> | undefined;

  constructor(
    private readonly store: DeliveryStore,
    private readonly retention: Retention,
  ) {}

  now(): number {
    return this.clock.now();
  }

  async open(): Promise<void> {
    await this.store.open({
      now: () => this.now(),
      leased: () => [...this.leased],
      reopened: () => {
        for (const feed of this.feeds.values()) feed.restart();
      },
      withdrawn: (ids) => {
        const withdrawn = new Set(ids);
        this.forget(({ id }) => withdrawn.has(id));
      },
      resumed: () => this.forget(() => false), // hands out what waits
    });
  }

  add(deliveries: NewDelivery[], beyondLimit = false): Promise<void> {
    if (deliveries.length === 0) return Promise.resolve();
    // A shared store groups the calls itself.
    return this.store.isShared || beyondLimit ? this.insert(deliveries, beyondLimit) : this.turn.add(deliveries);
  }

  consume(destination: string, concurrency: number): Observable<Lease> {
    return new Observable((subscriber: Subscriber<Lease>) => {
      if (this.feeds.has(destination))
        throw new RelayError('consumer_exists', `destination ${destination} has a consumer already`);
      const feed = new DestinationFeed(this.store, {
        destination,
        concurrency,
        subscriber,
        settle: this.createSettle(),
        leased: this.leased,
        total: this.total,
        claims: this.claims,
        now: () => this.now(),
      });
      this.feeds.set(destination, feed);
      feed.wake();
      this.following ??= this.others$.subscribe();
      return () => {
        // If the queue has been reopened, the destination may have another consumer.
        if (this.feeds.get(destination) === feed) this.feeds.delete(destination);
        feed.stop();
        if (this.feeds.size === 0) this.unfollow();
      };
    });
  }

  async idle(): Promise<void> {
    await Promise.all([...this.feeds.values()].map((feed) => feed.idle()));
  }

  async list(query: DeliveryQuery, page: DeliveryPage = {}): Promise<DeliveryRecord[]> {
    return this.store.list(checkQuery(query), checkPage(page));
  }

  async search(search: DeliverySearch, page: DeliveryPage = {}): Promise<DeliveryPortion> {
    if (!this.store.search || search.id !== undefined) return searchByList(this, search, page);
    return this.store.search(checkSearch(search), checkPage(page));
  }

  check(): Promise<QueueCondition> {
    return this.store.check();
  }

  oldest(): Promise<OldestDelivery[]> {
    return this.store.oldest();
  }

  counts(except?: readonly string[]): Promise<DeliveryCount[]> {
    return this.store.counts(except);
  }

  async replay(query: DeliveryQuery): Promise<number> {
    const destinations = await this.store.replay(checkQuery(query), this.now());
    for (const destination of new Set(destinations)) this.wake(destination);
    return destinations.length;
  }

  async expedite(destination: string): Promise<number> {
    const count = await this.store.expedite(destination, this.now());
    this.wake(destination);
    return count;
  }

  async purge(query: DeliveryQuery, keepsNotices = false): Promise<number> {
    const checked = checkQuery(query);
    const purged = await this.store.purge(checked, keepsNotices);
    const state = 'delivering';
    this.forget(
      (delivery) =>
        matches(checked, delivery, state) && !(keepsNotices && isOpenNotice({ body: delivery.body, state })),
    );
    await this.scrub();
    return purged;
  }

  sweep(): Promise<SweptRecords> {
    return this.store.sweep(this.retention, this.now());
  }

  async close(): Promise<void> {
    this.store.beginClose?.();
    this.turn.end();
    for (const feed of this.feeds.values()) feed.stop();
    this.feeds.clear();
    this.unfollow();
    // Deliveries just claimed from a shared store are returned; those of an embedded store are due when it opens.
    if (this.store.isShared) await Promise.all(this.claims);
    await this.writer.close();
    await this.store.close();
    // Leases end with the store; those granted after the next opening have all of this to themselves.
    this.leased = new Set();
    this.total = { bytes: 0 };
    this.writer = this.createWriter();
  }

  private async insertBatches(deliveries: NewDelivery[], beyondLimit: boolean): Promise<void> {
    const batches = toBatches(deliveries).map((batch) => {
      const feed = this.feeds.get(batch[0].destination);
      return { deliveries: batch, feed, leased: feed?.reserve(batch) ?? false };
    });
    let inserted: Delivery[][];
    try {
      inserted = await this.store.insert(batches, this.now(), beyondLimit);
    } catch (error) {
      for (const { deliveries: batch, feed, leased } of batches) if (leased) feed?.push([], batch);
      throw error;
    }
    batches.forEach(({ deliveries: batch, feed, leased }, index) => {
      if (leased) feed?.push(inserted[index]!, batch);
      // A store may be unable to lease what it inserts.
      if (!leased || inserted[index]!.length < batch.length) this.wake(batch[0].destination);
    });
  }

  /** Drops deliveries that this process no longer leases and has not handed out. */
  private forget(isWithdrawn: (delivery: Delivery) => boolean): void {
    for (const feed of this.feeds.values()) this.scope.runInAsyncScope(() => feed.forget(isWithdrawn));
  }

  private unfollow(): void {
    this.following?.unsubscribe();
    this.following = undefined;
  }

  private wake(destination: string): void {
    const feed = this.feeds.get(destination);
    if (feed) this.scope.runInAsyncScope(() => feed.wake());
    else this.due.next(destination);
  }

  /** Scrubs once for all purges that have removed their rows by the time the scrub begins. */
  private scrub(): Promise<void> {
    this.nextScrub ??= this.lastScrub.then(() => {
      this.nextScrub = undefined;
      return this.store.scrub?.();
    });
    this.lastScrub = this.nextScrub.catch(() => undefined);
    return this.nextScrub;
  }

  private createWriter(): SettlementWriter {
    return new SettlementWriter(this.store, () => this.now());
  }

  /** Creates the function that settles leases granted while the queue is open this time. */
  private createSettle(): SettlementWriter['write'] {
    const { writer, leased } = this;
    return (settlement, onEnd) =>
      writer.write(settlement, () => {
        const { delivery, outcome } = settlement;
        leased.delete(delivery.id);
        onEnd();
        // By now the destination may have another consumer, or need one.
        if (outcome === undefined) this.wake(delivery.destination);
        else if (outcome.state === 'waiting') this.feeds.get(delivery.destination)?.wakeAt(outcome.nextAttemptAt);
      });
  }
}
