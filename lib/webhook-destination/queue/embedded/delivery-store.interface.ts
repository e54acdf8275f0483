import type { Delivery, DeliveryCount, DeliveryOutcome } from '../delivery-queue.interface.js';

/** A delivery with its number in the store. */
export interface StoredDelivery extends Delivery {
  id: number;
}

/** A delivery on its way into the store. */
export interface NewDelivery {
  delivery: Delivery;
  /** Whether it is handed out at once, and so is not to be claimed. */
  leased: boolean;
}

/** The outcome of a leased delivery. */
export interface Settlement {
  id: number;
  outcome: DeliveryOutcome;
}

/** What a claim found. */
export interface Claim {
  /** Due deliveries, the oldest first, now leased. */
  deliveries: StoredDelivery[];
  /** When the next delivery that is not leased falls due, in ms since the epoch. */
  nextDueAt: number | undefined;
}

/** What an embedded queue needs of the place where its deliveries lie. It answers in the order of the calls. */
export interface DeliveryStore {
  open(): Promise<void>;
  /** Stores all or none; resolves with their ids, in the same order, once they are durable. */
  insert(deliveries: NewDelivery[]): Promise<number[]>;
  claim(destination: string, limit: number, now: number): Promise<Claim>;
  settle(settlement: Settlement): Promise<void>;
  counts(): Promise<DeliveryCount[]>;
  close(): Promise<void>;
}
