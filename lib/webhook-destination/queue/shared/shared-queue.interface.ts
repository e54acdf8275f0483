import type { Delivery, DeliveryQueue } from '../delivery-queue.interface.js';
import type { RegistryStore } from '../registry-store.interface.js';

/** A delivery that moves here from another queue. */
export interface TakenDelivery extends Delivery {
  /** Time of the next attempt, in ms since the epoch; undefined if it is due now. */
  nextAttemptAt?: number | undefined;
}

/** A queue that many processes share, and to which deliveries of another queue can be moved. */
export interface SharedQueue extends DeliveryQueue {
  readonly registry: RegistryStore;
  /** Adds deliveries from another queue, with their attempts, retry windows and due times. */
  takeOver(deliveries: Readonly<TakenDelivery>[]): Promise<void>;
}
