import { Observable, type Subscriber } from 'rxjs';

import type {
  Delivery,
  DeliveryCount,
  DeliveryPage,
  DeliveryQuery,
  DeliveryQueue,
  DeliveryRecord,
  Lease,
  NewDelivery,
} from '../delivery-queue.interface.js';
import type { Retention } from '../retention.options.js';
import { DestinationFeed, type Settle } from './destination.feed.js';
import type { DeliveryStore, Settlement, StoreBatch } from './delivery-store.interface.js';
import { SettlementWriter } from './settlement.writer.js';

/** Most deliveries stored as one batch, so that a claim takes little more than it has room for. */
const MAX_BATCH = 256;

/**
 * The queue of one process: deliveries lie in a store, and what has just been accepted goes to its consumer
 * straight from memory, without being read back.
 */
export class EmbeddedQueue implements DeliveryQueue {
  private readonly feeds = new Map<string, DestinationFeed>();
  private writer: SettlementWriter;

  constructor(
    private readonly store: DeliveryStore,
    private readonly retention: Retention,
  ) {
    this.writer = new SettlementWriter(store);
  }

  open(): Promise<void> {
    this.writer = new SettlementWriter(this.store);
    return this.store.open();
  }

  async add(deliveries: NewDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const batches = toBatches(deliveries);
    const feeds = batches.map(([{ destination }]) => this.feeds.get(destination));
    const stored: StoreBatch[] = batches.map((batch, index) => ({
      deliveries: batch,
      leased: feeds[index]?.reserve(batch) ?? false,
    }));
    let inserted: Delivery[][];
    try {
      inserted = await this.store.insert(stored);
    } catch (error) {
      stored.forEach(({ deliveries: batch, leased }, index) => leased && feeds[index]?.release(batch));
      throw error;
    }
    stored.forEach(({ deliveries: batch, leased }, index) => {
      if (leased) feeds[index]?.push(inserted[index]!, batch);
      else this.feeds.get(batch[0]!.destination)?.wake();
    });
  }

  consume(destination: string, concurrency: number): Observable<Lease> {
    return new Observable((subscriber: Subscriber<Lease>) => {
      if (this.feeds.has(destination)) throw new Error(`destination ${destination} is consumed already`);
      const { writer } = this;
      const settle: Settle = (settlement, onEnd) => this.settle(writer, settlement, onEnd);
      const feed = new DestinationFeed(this.store, destination, concurrency, subscriber, settle);
      this.feeds.set(destination, feed);
      feed.wake();
      return () => {
        this.feeds.delete(destination);
        feed.stop();
      };
    });
  }

  async idle(): Promise<void> {
    await Promise.all([...this.feeds.values()].map((feed) => feed.idle()));
  }

  list(query: DeliveryQuery, page: DeliveryPage = {}): Promise<DeliveryRecord[]> {
    return this.store.list(query, page);
  }

  counts(): Promise<DeliveryCount[]> {
    return this.store.counts();
  }

  async replay(query: DeliveryQuery): Promise<number> {
    const destinations = await this.store.replay(query, Date.now());
    for (const destination of new Set(destinations)) this.feeds.get(destination)?.wake();
    return destinations.length;
  }

  async purge(query: DeliveryQuery): Promise<number> {
    const purged = await this.store.purge(query);
    for (const feed of this.feeds.values()) feed.forget(query);
    return purged;
  }

  sweep(): Promise<number> {
    return this.store.sweep(this.retention, Date.now());
  }

  async close(): Promise<void> {
    for (const feed of this.feeds.values()) feed.stop();
    this.feeds.clear();
    await this.writer.close();
    await this.store.close();
  }

  private settle(writer: SettlementWriter, settlement: Settlement, onEnd: () => void): Promise<boolean> {
    return writer.write(settlement, () => {
      onEnd();
      const { delivery, outcome } = settlement;
      if (outcome !== undefined && outcome.state !== 'waiting') return;
      // By now the destination may have another consumer.
      const feed = this.feeds.get(delivery.destination);
      if (outcome === undefined) feed?.wake();
      else feed?.wakeAt(outcome.nextAttemptAt);
    });
  }
}

type Batch = [NewDelivery, ...NewDelivery[]];

/** Puts together what has one destination, source and moment, and keeps the order. */
function toBatches(deliveries: NewDelivery[]): Batch[] {
  const open = new Map<string, Batch>();
  const batches: Batch[] = [];
  for (const delivery of deliveries) {
    const batch = open.get(delivery.destination);
    const [first] = batch ?? [];
    if (
      batch &&
      batch.length < MAX_BATCH &&
      first?.source === delivery.source &&
      first.acceptedAt === delivery.acceptedAt
    ) {
      batch.push(delivery);
    } else {
      const started: Batch = [delivery];
      open.set(delivery.destination, started);
      batches.push(started);
    }
  }
  return batches;
}
