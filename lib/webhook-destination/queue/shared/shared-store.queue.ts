import type { Retention } from '../retention.options.js';
import type { DeliveryStore } from '../store/delivery-store.interface.js';
import { StoreQueue } from '../store/store.queue.js';
import type { SharedQueue, TakenDelivery } from './shared-queue.interface.js';

/** A store that many processes share. */
export interface SharedStore extends DeliveryStore {
  /** Stores deliveries of another queue that it does not hold yet, with their attempts, retry windows and due times. */
  take(deliveries: Readonly<TakenDelivery>[]): Promise<void>;
}

/** The queue of one of the processes that share a store. */
export class SharedStoreQueue extends StoreQueue implements SharedQueue {
  constructor(
    private readonly shared: SharedStore,
    retention: Retention,
  ) {
    super(shared, retention);
  }

  takeOver(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    return this.shared.take(deliveries);
  }
}
