import type {
  Delivery,
  DeliveryCount,
  DeliveryOutcome,
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  NewDelivery,
} from '../delivery-queue.interface.js';

/** A delivery on its way into the store. */
export interface StoreEntry {
  delivery: NewDelivery;
  /** Whether it is handed out at once, and so is not to be claimed. */
  leased: boolean;
}

/** The outcome of a leased delivery. */
export interface Settlement {
  id: string;
  outcome: DeliveryOutcome;
}

/** What a claim found. */
export interface Claim {
  /** Due deliveries, the oldest first, now leased. */
  deliveries: Delivery[];
  /** When the next delivery that is not leased falls due, in ms since the epoch. */
  nextDueAt: number | undefined;
}

/** What an embedded queue needs of the place where its deliveries lie. It answers in the order of the calls. */
export interface DeliveryStore {
  open(): Promise<void>;
  /** Stores all or none; resolves with their ids, in the same order, once they are durable. */
  insert(entries: StoreEntry[]): Promise<string[]>;
  claim(destination: string, limit: number, now: number): Promise<Claim>;
  settle(settlement: Settlement): Promise<void>;
  list(query: DeliveryQuery, page: DeliveryPage): Promise<DeliveryRecord[]>;
  counts(): Promise<DeliveryCount[]>;
  /** Makes dead deliveries due at `now`; resolves with the destination of each. */
  replay(query: DeliveryQuery, now: number): Promise<string[]>;
  purge(query: DeliveryQuery): Promise<number>;
  close(): Promise<void>;
}
