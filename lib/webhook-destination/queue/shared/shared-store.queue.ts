import type { DeliveryQueueFactory } from '../delivery-queue.interface.js';
import type { Retention } from '../retention.options.js';
import type { DeliveryStore } from '../store/delivery-store.interface.js';
import { StoreQueue } from '../store/store.queue.js';
import type { SharedQueue, TakenDelivery } from './shared-queue.interface.js';
import { concealClient } from './store-errors.util.js';

/** A store that many processes share. */
export interface SharedStore extends DeliveryStore {
  /** Stores deliveries of another queue that it does not hold yet, with their attempts, retry windows and due times. */
  take(deliveries: Readonly<TakenDelivery>[]): Promise<void>;
}

/** The queue of one of the processes that share a store. */
class SharedStoreQueue extends StoreQueue implements SharedQueue {
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

/** Returns a queue factory for a store that processes share. */
export function sharedQueueFactory(create: () => SharedQueue): DeliveryQueueFactory {
  return Object.assign(create, { isShared: true });
}

/**
 * Creates a queue that shows nothing of its store.
 *
 * @param name of the store, for errors
 */
export function createSharedQueue(store: SharedStore, retention: Retention, name: string): SharedQueue {
  const queue: SharedQueue = new SharedStoreQueue(store, retention);
  const { registry, series, peers, due$ } = queue;
  let isOpen = false;
  const conceal = <T extends object>(object: T): T => concealClient(object, name, () => isOpen);
  const concealed = conceal(queue);
  return {
    ...concealed,
    // Says itself why it fails.
    open: async () => {
      await queue.open();
      isOpen = true;
    },
    close: () => {
      isOpen = false;
      return concealed.close();
    },
    registry: Object.assign(conceal(registry), { changed$: registry.changed$ }),
    series: series && conceal(series),
    peers: peers && Object.assign(conceal(peers), { received$: peers.received$ }),
    due$,
  };
}
