import { Observable, type Subscriber } from 'rxjs';

import type {
  DeliveryCount,
  DeliveryPage,
  DeliveryQuery,
  DeliveryQueue,
  DeliveryRecord,
  Lease,
  NewDelivery,
} from '../delivery-queue.interface.js';
import { DestinationFeed } from './destination.feed.js';
import type { DeliveryStore } from './delivery-store.interface.js';

/**
 * The queue of one process: deliveries lie in a store, and what has just been accepted goes to its consumer
 * straight from memory, without being read back.
 */
export class EmbeddedQueue implements DeliveryQueue {
  private readonly feeds = new Map<string, DestinationFeed>();

  constructor(private readonly store: DeliveryStore) {}

  open(): Promise<void> {
    return this.store.open();
  }

  async add(deliveries: NewDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const places = deliveries.map(({ destination }) => {
      const feed = this.feeds.get(destination);
      return { feed, leased: feed?.reserve() ?? false };
    });
    let ids: string[];
    try {
      ids = await this.store.insert(deliveries.map((delivery, index) => ({ delivery, leased: places[index]!.leased })));
    } catch (error) {
      for (const { feed, leased } of places) if (leased) feed?.release();
      throw error;
    }
    places.forEach(({ feed, leased }, index) => {
      if (leased)
        feed?.push({ ...deliveries[index]!, id: ids[index]!, firstAttemptAt: undefined, attempts: [], failedUrls: [] });
      else feed?.wake();
    });
  }

  consume(destination: string, concurrency: number): Observable<Lease> {
    return new Observable((subscriber: Subscriber<Lease>) => {
      if (this.feeds.has(destination)) throw new Error(`destination ${destination} is consumed already`);
      const feed = new DestinationFeed(this.store, destination, concurrency, subscriber);
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

  purge(query: DeliveryQuery): Promise<number> {
    return this.store.purge(query);
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
