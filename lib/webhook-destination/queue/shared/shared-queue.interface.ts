import type { Delivery, DeliveryQueue } from '../delivery-queue.interface.js';
import type { RegistryStore } from '../registry-store.interface.js';

/** A delivery of another queue. */
export interface TakenDelivery extends Delivery {
  /** When it is to be attempted next, in ms since the epoch, where that is not now. */
  nextAttemptAt?: number | undefined;
}

/** A queue that many processes share, and that the deliveries of another one can move to. */
export interface SharedQueue extends DeliveryQueue {
  readonly registry: RegistryStore;
  /** Takes deliveries over from another queue, with their attempts, their windows, and when they fall due. */
  takeOver(deliveries: Readonly<TakenDelivery>[]): Promise<void>;
}

/** A registry in Redis or PostgreSQL. */
export interface SharedRegistryStore extends RegistryStore {
  /** Forgets what was removed long ago. */
  sweep(now: number): Promise<void>;
  /** Ends `changed$`. */
  close(): void;
}
