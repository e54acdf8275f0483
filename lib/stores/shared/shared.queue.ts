import { DeliveryQueue, type DeliveryQueueFactory } from '../../webhook-destination/queue/delivery.queue.js';
import type { TakenDelivery } from '../../webhook-destination/queue/delivery.interface.js';
import type { Retention } from '../../webhook-destination/queue/retention.options.js';
import type { DeliveryStore } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { concealStore } from './store-errors.util.js';

/** A store that many processes share. */
export interface SharedStore extends DeliveryStore {
  /** Stores deliveries of another queue that it does not hold yet, with their attempts, retry windows and due times. */
  take(deliveries: Readonly<TakenDelivery>[]): Promise<void>;
}

/** The queue of one of the processes that share a store, to which deliveries of another queue can be moved. */
export class SharedQueue extends DeliveryQueue<SharedStore> {
  /** @param name of the store, for errors */
  constructor(store: SharedStore, retention: Retention, name: string) {
    super(concealStore(store, name), retention);
  }

  /** Adds deliveries from another queue, with their attempts, retry windows and due times. */
  takeOver(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    return this.store.take(deliveries);
  }
}

/** Returns a queue factory for a store that processes share. */
export function sharedQueueFactory(create: () => SharedQueue): DeliveryQueueFactory {
  return Object.assign(create, { isShared: true });
}
