import { AsyncResource } from 'node:async_hooks';

import { Observable, Subject, type Subscriber } from 'rxjs';

import { RelayError } from '../../../client/relay.error.js';
import type {
  Delivery,
  DeliveryCount,
  DeliveryPage,
  DeliveryQuery,
  DeliveryQueue,
  DeliveryRecord,
  Lease,
  NewDelivery,
  OldestDelivery,
} from '../delivery-queue.interface.js';
import { checkPage, checkQuery } from '../query.util.js';
import type { RegistryStore } from '../registry-store.interface.js';
import type { Retention } from '../retention.options.js';
import { SteadyClock } from '../steady-clock.js';
import { DestinationFeed, type Settle } from './destination-feed.js';
import { type DeliveryStore, FULL_BATCH, MAX_BATCH } from './delivery-store.interface.js';
import { SettlementWriter } from './settlement.writer.js';

/**
 * The queue of one process: deliveries lie in a store, and what has just been accepted goes to its consumer
 * straight from memory, without being read back.
 */
export class StoreQueue implements DeliveryQueue {
  private readonly feeds = new Map<string, DestinationFeed>();
  /** What was handed out, or is about to be, and has no outcome on record. */
  private readonly leased = new Set<Delivery>();
  private readonly clock = new SteadyClock();
  /** The async context of the feeds: their reads and timers are not part of the request that wakes them. */
  private readonly scope = new AsyncResource('StoreQueue');
  private readonly due = new Subject<string>();
  readonly due$ = this.due.asObservable();
  private writer: SettlementWriter;
  private lastScrub = Promise.resolve();
  /** The one that has not begun. */
  private nextScrub: Promise<void> | undefined;

  constructor(
    private readonly store: DeliveryStore,
    private readonly retention: Retention,
  ) {
    this.writer = this.createWriter();
  }

  get registry(): RegistryStore {
    return this.store.registry;
  }

  now(): number {
    return this.clock.now();
  }

  async open(): Promise<void> {
    await this.store.open({
      now: () => this.now(),
      leased: () => Array.from(this.leased, ({ id }) => id),
      reopened: () => {
        for (const feed of this.feeds.values()) feed.restart();
      },
    });
  }

  async add(deliveries: NewDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const batches = toBatches(deliveries).map((batch) => {
      const feed = this.feeds.get(batch[0].destination);
      return { deliveries: batch, feed, leased: feed?.reserve(batch) ?? false };
    });
    let inserted: Delivery[][];
    try {
      inserted = await this.store.insert(batches, this.now());
    } catch (error) {
      for (const { deliveries: batch, feed, leased } of batches) if (leased) feed?.push([], batch);
      throw error;
    }
    this.scope.runInAsyncScope(() => {
      batches.forEach(({ deliveries: batch, feed, leased }, index) => {
        if (leased) feed?.push(inserted[index]!, batch);
        else this.wake(batch[0].destination);
      });
    });
  }

  consume(destination: string, concurrency: number, windowBefore = Infinity): Observable<Lease> {
    return new Observable((subscriber: Subscriber<Lease>) => {
      if (this.feeds.has(destination))
        throw new RelayError('consumer_exists', `destination ${destination} has a consumer already`);
      const feed = new DestinationFeed(this.store, {
        destination,
        concurrency,
        windowBefore,
        subscriber,
        settle: this.createSettle(),
        leased: this.leased,
        now: () => this.now(),
      });
      this.feeds.set(destination, feed);
      feed.wake();
      return () => {
        // After the queue was opened again, the destination may have another consumer.
        if (this.feeds.get(destination) === feed) this.feeds.delete(destination);
        feed.stop();
      };
    });
  }

  async idle(): Promise<void> {
    await Promise.all([...this.feeds.values()].map((feed) => feed.idle()));
  }

  async list(query: DeliveryQuery, page: DeliveryPage = {}): Promise<DeliveryRecord[]> {
    return this.store.list(checkQuery(query), checkPage(page));
  }

  counts(): Promise<DeliveryCount[]> {
    return this.store.counts();
  }

  async oldest(): Promise<OldestDelivery[]> {
    const oldest = new Map<string, number>();
    for (const { destination, acceptedAt } of [...(await this.store.oldest()), ...this.leased]) {
      oldest.set(destination, Math.min(oldest.get(destination) ?? Infinity, acceptedAt));
    }
    return Array.from(oldest, ([destination, acceptedAt]) => ({ destination, acceptedAt }));
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

  async purge(query: DeliveryQuery): Promise<number> {
    const checked = checkQuery(query);
    const purged = await this.store.purge(checked);
    for (const feed of this.feeds.values()) feed.forget(checked);
    await this.scrub();
    return purged;
  }

  sweep(): Promise<number> {
    return this.store.sweep(this.retention, this.now());
  }

  async close(): Promise<void> {
    for (const feed of this.feeds.values()) feed.stop();
    this.feeds.clear();
    await this.writer.close();
    await this.store.close();
    // Leases end with the store; those of the next opening have a writer of their own.
    this.leased.clear();
    this.writer = this.createWriter();
  }

  private wake(destination: string): void {
    const feed = this.feeds.get(destination);
    if (feed) feed.wake();
    else this.due.next(destination);
  }

  /** Purges share the scrub that begins once the rows of all are gone. */
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

  /** What settles the leases of this opening, and of no other. */
  private createSettle(): Settle {
    const { writer } = this;
    return ({ delivery, outcome }, onEnd) =>
      writer.write({ delivery, outcome }, () => {
        this.leased.delete(delivery);
        onEnd();
        if (outcome !== undefined && outcome.state !== 'waiting') return;
        // By now the destination may have another consumer.
        const feed = this.feeds.get(delivery.destination);
        if (outcome === undefined) feed?.wake();
        else feed?.wakeAt(outcome.nextAttemptAt);
      });
  }
}

type Batch = [NewDelivery, ...NewDelivery[]];

/**
 * The bodies of one request share memory, which would be held as long as one of them: where other destinations, or
 * none, get most of it, these are copied.
 */
function withOwnMemory(batch: Batch): Batch {
  const { byteLength } = batch[0].body.buffer;
  if (byteLength <= Buffer.poolSize) return batch; // it may be Node's pool
  let size = 0;
  for (const { body } of batch) size += body.length;
  if (size > byteLength / 2) return batch;
  return batch.map((delivery) => ({ ...delivery, body: Buffer.from(delivery.body) })) as Batch;
}

/** Puts together what has one destination, source and moment, and keeps the order; in memory of their own. */
function toBatches(deliveries: NewDelivery[]): Batch[] {
  const open = new Map<string, { batch: Batch; bytes: number }>();
  const batches: Batch[] = [];
  for (const delivery of deliveries) {
    const last = open.get(delivery.destination);
    const [first] = last?.batch ?? [];
    if (
      last &&
      last.batch.length < MAX_BATCH &&
      last.bytes < FULL_BATCH &&
      first?.source === delivery.source &&
      first.acceptedAt === delivery.acceptedAt
    ) {
      last.batch.push(delivery);
      last.bytes += delivery.body.length;
    } else {
      const started: Batch = [delivery];
      open.set(delivery.destination, { batch: started, bytes: delivery.body.length });
      batches.push(started);
    }
  }
  return batches.map(withOwnMemory);
}
