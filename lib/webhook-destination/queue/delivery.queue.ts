import { ignoreElements, merge, Observable, share, Subject, type Subscriber, type Subscription, tap } from 'rxjs';

import { createAsyncScope } from '../../client/async-scope.util.js';
import { RelayError } from '../../client/relay.error.js';
import { TransactionError } from '../../common/relay.errors.js';
import { NONE } from './delivery.factory.js';
import {
  type Delivery,
  type DeliveryCount,
  type DeliveryPage,
  type DeliveryQuery,
  type DeliveryRecord,
  isOpenNotice,
  type KeptSince,
  type Lease,
  type NewDelivery,
  type OldestDelivery,
  type QueueCondition,
  type SweptRecords,
} from './delivery.interface.js';
import { DeliveryReplays } from './delivery.replays.js';
import { DeliverySearches } from './delivery.searches.js';
import { KeptRefusals } from './kept-refusals.js';
import { LOG_PORTION, type LogStore } from './log-store.interface.js';
import type { PeerChannel } from './peer-channel.interface.js';
import { checkPage, checkQuery, matches } from './query.util.js';
import type { RegistryStore } from './registry-store.interface.js';
import type { Retention } from './retention.options.js';
import type { SeriesStore } from './series-store.interface.js';
import { SearchedFields } from './searched-fields.js';
import { SteadyClock } from './steady-clock.js';
import { DestinationFeed } from './store/destination-feed.js';
import { AddTurn, toBatches } from './store/add-turn.js';
import type {
  DeliveryStore,
  Insertion,
  MessageKey,
  ReplayQuery,
  WrittenDeliveries,
} from './store/delivery-store.interface.js';
import { SettlementWriter } from './store/settlement.writer.js';

export const NOT_IN_TRANSACTIONS =
  'this queue cannot record in a transaction of the application: use postgresQueue() in the database of the transaction';

/**
 * Stores accepted deliveries until they are settled, and keeps their records for the retention time. New deliveries go
 * to their consumer straight from memory, without being read back from the store, which one process has for itself or
 * many share. Where nothing else is said, methods reject when the store cannot be read or written.
 */
export class DeliveryQueue<S extends DeliveryStore = DeliveryStore> {
  /** Stores sources and destinations for `registry: 'store'`; usable while the queue is open. */
  readonly registry: RegistryStore = this.store.registry;
  /** Stores per-minute figures; usable while the queue is open. */
  readonly series: SeriesStore = this.store.series;
  /** Reads that take long, in turn. */
  readonly searches = new DeliverySearches(this.store);
  readonly replays = new DeliveryReplays(this.searches, (query) => this.replayOnce(query));
  /** Keeps the messages that ingest has refused; usable while the queue is open. */
  readonly refusals = new KeptRefusals(this.store.logs, this.retention.refused);
  /** Stores logs, such as the activity; usable while the queue is open. */
  readonly logs: LogStore = this.store.logs;
  /** Connects the processes that share the store; usable while the queue is open. */
  readonly peers: PeerChannel | undefined = this.store.peers;
  /** Fields by whose values deliveries are found at once. */
  searched = new SearchedFields();
  private readonly feeds = new Map<string, DestinationFeed>();
  /** Deliveries that are handed out or ready, without a recorded outcome, by id. */
  private leased = new Map<string, Delivery>();
  /** Those whose lease is over: they were purged, or another process may have taken them. */
  private readonly withdrawn = new WeakSet<Delivery>();
  /** Leases granted before the end of an earlier one was known, by the earlier one. */
  private readonly early = new WeakMap<Delivery, Delivery>();
  /** Total size of the bodies that feeds hold, in bytes. */
  private total = { bytes: 0 };
  private readonly claims = new Set<Promise<unknown>>();
  /** The clock that deliveries are accepted and scheduled by. */
  readonly clock = new SteadyClock(() => this.store.now());
  /** Async context of writes, reads and timers: they are not part of the request that causes them. */
  private readonly scope = createAsyncScope('DeliveryQueue');
  private readonly insert = this.scope.bind((deliveries: NewDelivery[], beyondLimit: boolean) =>
    this.insertBatches(deliveries, beyondLimit),
  );
  private readonly turn = new AddTurn((deliveries) => this.insert(deliveries, false), this.store.fullTurn);
  private readonly due = new Subject<string>();
  /** Wakes the feeds of destinations that other processes make due. */
  private readonly others$ = this.store.due$.pipe(
    tap((name) => this.wake(name)),
    share(),
  );
  /** Subscription to `others$` while there is a consumer. */
  private following: Subscription | undefined;
  /**
   * Emits the name of a destination that gets a due delivery but has no consumer in this process. A destination needs
   * no consumer until it is emitted here or `counts` reports open deliveries for it. On subscription, the destinations
   * that already have due deliveries are emitted if other processes share the store. Further names may be emitted.
   */
  readonly due$: Observable<string> = merge(this.due, this.others$.pipe(ignoreElements()));
  private writer = this.createWriter();
  private lastScrub = Promise.resolve();
  /** The scrub that has not begun. */
  private nextScrub: Promise<void> | undefined;

  constructor(
    protected readonly store: S,
    private readonly retention: Retention,
  ) {}

  /**
   * Returns the queue's time, in ms since the epoch, which never goes back. Acceptance times, due times and the retry
   * schedule are based on it.
   */
  now(): number {
    return this.clock.now();
  }

  /**
   * Has the deliveries that are added from now on found at once by values of fields of their bodies. Called before the
   * queue is opened.
   *
   * @param fields dotted paths, such as `properties.orderId`
   */
  searchBy(fields: readonly string[]): void {
    this.searched = new SearchedFields(fields);
  }

  /** Opens the store; deliveries that a crash left `delivering` are due again. */
  async open(): Promise<void> {
    await this.store.open({
      now: () => this.now(),
      searched: this.searched,
      leased: () => [...this.leased.keys()],
      reopened: () => {
        for (const feed of this.feeds.values()) feed.restart();
        void this.announceOpen();
      },
      purged: (ids) => void this.withdrawPurged(() => this.leasedOf(ids)),
      withdrawn: (ids) => this.withdraw(this.leasedOf(ids)),
      resumed: () => this.withdraw([]), // hands out what waits
    });
  }

  /**
   * Stores deliveries, all or none; resolves once they are durable. A delivery with the destination, source and
   * messageId of an earlier one is skipped for as long as the queue remembers that message: a sender that received no
   * response sends the message again. Resolves with the skipped ones.
   *
   * @param beyondLimit whether they are stored even if the queue has reached its size limit; for delete notifications
   */
  add(deliveries: NewDelivery[], beyondLimit = false): Promise<NewDelivery[]> {
    if (deliveries.length === 0) return Promise.resolve(NONE);
    return beyondLimit ? this.insert(deliveries, beyondLimit) : this.turn.add(deliveries);
  }

  /** Returns those of the destinations for which a message is remembered: {@link add} would skip it. */
  remembers(message: MessageKey, destinations: readonly string[]): Promise<string[]> {
    return this.store.remembers(message, destinations, this.now());
  }

  /** Whether deliveries can be stored in transactions of the application. */
  get joinsTransactions(): boolean {
    return this.store.transactions !== undefined;
  }

  /**
   * Returns what stores deliveries in a transaction of the application: `TransactionStore.join`.
   *
   * @throws {TransactionError} if this is no open transaction, or the store cannot write in one
   */
  join(transaction: unknown): (deliveries: NewDelivery[]) => Promise<WrittenDeliveries> {
    if (!this.store.transactions) throw new TransactionError(NOT_IN_TRANSACTIONS);
    const write = this.store.transactions.join(transaction);
    return async (deliveries) => {
      const written = await write(deliveries);
      void written.ended.then((isCommitted) => {
        if (isCommitted) for (const name of new Set(deliveries.map(({ destination }) => destination))) this.wake(name);
      });
      return written;
    };
  }

  /**
   * Emits leases of the destination's due deliveries, oldest first, with at most `concurrency` of them unsettled; while
   * outcomes are recorded, more may be emitted. After a crash, deliveries with no recorded outcome are due again.
   * Unsubscribing stops the consumer: its leases can still be settled, and the next consumer gets all other deliveries.
   *
   * @param isLimited whether a rate limit holds what is emitted: no other deliveries are then leased
   * @throws {RelayError} `consumer_exists`, if the destination has a consumer in this process
   */
  consume(destination: string, concurrency: number, isLimited = false): Observable<Lease> {
    return new Observable((subscriber: Subscriber<Lease>) => {
      if (this.feeds.has(destination))
        throw new RelayError('consumer_exists', `destination ${destination} has a consumer already`);
      const feed = new DestinationFeed(this.store, {
        destination,
        concurrency,
        isLimited,
        subscriber,
        settle: this.createSettle(),
        leased: this.leased,
        withdrawn: this.withdrawn,
        early: this.early,
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

  /** Resolves once this process's consumers have taken every due delivery and the outcomes are recorded. */
  async idle(): Promise<void> {
    await Promise.all([...this.feeds.values()].map((feed) => feed.idle()));
  }

  /** Returns matching deliveries, newest first. One that exists throughout is on exactly one page, whatever changes. */
  async list(query: DeliveryQuery, page: DeliveryPage = {}): Promise<DeliveryRecord[]> {
    return this.store.list(checkQuery(query), checkPage(page));
  }

  /** Makes a test write as durable as that of {@link add}, changing no delivery. */
  check(): Promise<QueueCondition> {
    return this.store.check();
  }

  /**
   * Returns the oldest queued or waiting delivery of each destination that has one, and when the first of them falls
   * due. A store that would have to read many may consider only the deliveries that are due first.
   */
  oldest(): Promise<OldestDelivery[]> {
    return this.store.oldest();
  }

  /**
   * Counts deliveries by destination and state.
   *
   * @param except destinations that need not be counted; a store that counts them at no cost may include them
   */
  counts(except?: readonly string[]): Promise<DeliveryCount[]> {
    return this.store.counts(except);
  }

  /** Returns how far back the records of delivered messages reach, for each destination that has some. */
  keptSince(): Promise<KeptSince[]> {
    return this.store.keptSince();
  }

  /** As {@link DeliveryReplays.run}. */
  replay(query: DeliveryQuery): Promise<number> {
    return this.replays.run(query);
  }

  /** Makes deliveries of a removed destination due now that wait for their time; resolves with their number. */
  async expedite(destination: string): Promise<number> {
    const count = await this.store.expedite(destination, this.now());
    this.wake(destination);
    return count;
  }

  /**
   * Removes matching deliveries in any state, with bodies and attempts; resolves with their number.
   *
   * @param keepsNotices whether delete notifications that are queued, delivering or waiting stay
   */
  async purge(query: DeliveryQuery, keepsNotices = false): Promise<number> {
    const purged = await this.purgeBySource(query, keepsNotices);
    return [...purged.values()].reduce((sum, count) => sum + count, 0);
  }

  /** As {@link purge}; resolves with the number of removed deliveries of each source that had some. */
  async purgeBySource(query: DeliveryQuery, keepsNotices = false): Promise<Map<string, number>> {
    const checked = checkQuery(query);
    const purged = await this.store.purge(checked, keepsNotices);
    const state = 'delivering';
    const isPurged = (delivery: Delivery) =>
      matches(checked, delivery, state) && !(keepsNotices && isOpenNotice({ body: delivery.body, state }));
    await this.withdrawPurged(() => [...this.leased.values()].filter(isPurged));
    await this.scrub();
    const counts = new Map<string, number>();
    for (const { source, count } of purged) counts.set(source, (counts.get(source) ?? 0) + count);
    return counts;
  }

  /**
   * Removes records of delivered and dead deliveries past their retention, in a destination those first that ended
   * first. If there are more than the `count` or `bytes` of a state, the destinations with the most records give up
   * theirs: none has more than another that loses some, except for the remainder of the division. Also removes records
   * of logs past their age.
   */
  async sweep(): Promise<SweptRecords> {
    while ((await this.store.logs.removeOld(Date.now(), LOG_PORTION)) === LOG_PORTION);
    return this.store.sweep(this.retention, this.now());
  }

  /** Releases leases, finishes pending writes, and closes. */
  async close(): Promise<void> {
    this.store.beginClose();
    this.turn.end();
    for (const feed of this.feeds.values()) feed.stop();
    this.feeds.clear();
    this.unfollow();
    // Deliveries just claimed from a shared store are returned; those of an embedded store are due when it opens.
    if (this.store.isShared) await Promise.all(this.claims);
    await this.writer.close();
    await this.store.close();
    // Leases end with the store; those granted after the next opening have all of this to themselves.
    this.leased = new Map();
    this.total = { bytes: 0 };
    this.writer = this.createWriter();
  }

  private async replayOnce(query: ReplayQuery): Promise<number> {
    const destinations = await this.store.replay(query, this.now());
    for (const destination of new Set(destinations)) this.wake(destination);
    return destinations.length;
  }

  private async insertBatches(deliveries: NewDelivery[], beyondLimit: boolean): Promise<NewDelivery[]> {
    const batches = toBatches(deliveries).map((batch) => {
      const feed = this.feeds.get(batch[0].destination);
      return { deliveries: batch, feed, leased: feed?.reserve(batch) ?? false };
    });
    let inserted: Insertion[];
    try {
      inserted = await this.store.insert(batches, this.now(), beyondLimit);
    } catch (error) {
      for (const { deliveries: batch, feed, leased } of batches) if (leased) feed?.push([], batch);
      throw error;
    }
    batches.forEach(({ deliveries: batch, feed, leased }, index) => {
      const stored = inserted[index]!.leased;
      if (leased) feed?.push(stored, batch);
      // A store may be unable to lease what it inserts.
      if (!leased || stored.length < batch.length) this.wake(batch[0].destination);
    });
    const repeats = inserted.filter(({ repeated }) => repeated.length > 0);
    return repeats.length === 0 ? NONE : repeats.flatMap(({ repeated }) => repeated);
  }

  private leasedOf(ids: string[]): Delivery[] {
    return ids.flatMap((id) => this.leased.get(id) ?? []);
  }

  /**
   * Withdraws what a purge may have removed.
   *
   * @param find returns it, as far as this process knows of its leases
   */
  private async withdrawPurged(find: () => Delivery[]): Promise<void> {
    this.withdraw(find(), true);
    await Promise.all(this.claims); // the store may have leased some before it removed them
    this.withdraw(find(), true);
  }

  /**
   * Drops deliveries that this process no longer leases. For those that are handed out, no request is made any more.
   *
   * @param mayExist as in {@link DestinationFeed.forget}
   */
  private withdraw(deliveries: Delivery[], mayExist = false): void {
    for (const delivery of deliveries) this.withdrawn.add(delivery);
    for (const feed of this.feeds.values()) this.scope.runInAsyncScope(() => feed.forget(mayExist));
  }

  /** Announces open deliveries without a consumer: a write that failed may have stored some. */
  private async announceOpen(): Promise<void> {
    const open = await this.store.oldest().catch(() => []); // the next failure reopens the store again
    for (const { destination } of open) if (!this.feeds.has(destination)) this.due.next(destination);
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
      return this.store.scrub();
    });
    this.lastScrub = this.nextScrub.catch(() => undefined);
    return this.nextScrub;
  }

  private createWriter(): SettlementWriter {
    return new SettlementWriter(this.store, () => this.now());
  }

  /** Creates the function that settles leases granted while the queue is open this time. */
  private createSettle(): SettlementWriter['write'] {
    const { writer, leased, early } = this;
    return (settlement, onEnd) =>
      writer.write(settlement, (isInDoubt) => {
        const { delivery, outcome } = settlement;
        leased.delete(delivery.id);
        onEnd(isInDoubt);
        const next = early.get(delivery);
        // A repeated write may have ended this lease, too: the store frees it if it has not.
        if (next && !isInDoubt) this.feeds.get(next.destination)?.push([next], []);
        // By now the destination may have another consumer, or need one.
        if (outcome === undefined) this.wake(delivery.destination);
        else if (outcome.state === 'waiting') this.feeds.get(delivery.destination)?.wakeAt(outcome.nextAttemptAt);
      });
  }
}

/** Creates a queue for one application; value of the `queue` option. */
export interface DeliveryQueueFactory {
  (): DeliveryQueue;
  /**
   * Whether queues created in several processes share their deliveries, so ingest and delivery can run separately.
   * @default false
   */
  readonly isShared?: boolean;
}
