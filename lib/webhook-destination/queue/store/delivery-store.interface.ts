import type { Observable } from 'rxjs';

import type {
  Delivery,
  DeliveryCount,
  DeliveryOutcome,
  DeliveryRecord,
  KeptSince,
  NewDelivery,
  OldestDelivery,
  PurgedSource,
  QueueCondition,
  ReplayableState,
  SweptRecords,
} from '../delivery.interface.js';
import type { CheckedSearch, DeliveryPortion } from '../delivery-search.js';
import type { LogStore } from '../log-store.interface.js';
import type { PeerChannel } from '../peer-channel.interface.js';
import type { CheckedPage, CheckedQuery } from '../query.util.js';
import type { RegistryStore } from '../registry-store.interface.js';
import type { Retention } from '../retention.options.js';
import type { SearchedFields } from '../searched-fields.js';
import type { SeriesStore } from '../series-store.interface.js';

/** Maximum number of deliveries in a batch, so that a claim exceeds its limit only slightly. */
export const MAX_BATCH = 256;

/**
 * Body bytes at which a batch is full, so that reading one of its deliveries reads little else. One request seldom has
 * as many, unless a large `context` of its batch is copied into each message.
 */
export const FULL_BATCH = 512 * 1024;

/** Deliveries with the same destination, source and acceptance time, which are stored together. */
export interface StoreBatch {
  deliveries: NewDelivery[];
  /** Whether they are stored as leased, because the consumer gets them without a claim. */
  leased: boolean;
}

/** What became of a batch. */
export interface Insertion {
  /** The stored deliveries of a leased batch, as far as the store can lease what it inserts; otherwise none. */
  leased: Delivery[];
  /** Those of the batch that were skipped, because their message is remembered. */
  repeated: NewDelivery[];
}

/** Outcome of a leased delivery, undefined if it is returned without an attempt. */
export interface Settlement {
  delivery: Delivery;
  outcome: DeliveryOutcome | undefined;
  /** Whether a write failed that may have recorded it all the same. */
  isInDoubt: boolean;
}

/** Limits of a claim, which the last batch may exceed. */
export interface ClaimLimit {
  deliveries: number;
  /** Total size of their bodies. */
  bytes: number;
}

/** Result of a claim. */
export interface Claim {
  /** Due deliveries, oldest first, now leased. */
  deliveries: Delivery[];
  /** Whether more may be due. */
  more: boolean;
  /** When the next unleased delivery falls due, in ms since the epoch; undefined if more may be due now. */
  nextDueAt: number | undefined;
}

/** The queue, as seen by a store that reopens by itself after a failure. */
export interface StoreOwner {
  /** The queue's time, in ms since the epoch. */
  now(): number;
  /** Returns the keys of new deliveries and of searches, by which the store finds deliveries at once. */
  readonly searched: SearchedFields;
  /** Returns ids of deliveries without a recorded outcome. Their leases continue; all others are due again. */
  leased(): string[];
  /** Called once the store is open again. */
  reopened(): void;
  /** Called with the ids of deliveries that another process has removed. */
  purged(ids: string[]): void;
  /** Called with the ids of deliveries that another process may have taken. */
  withdrawn(ids: string[]): void;
  /** Called when `holdsLeases` returns true again. */
  resumed(): void;
}

/** Selects deliveries to replay: dead ones, or the one with an id. */
export type ReplayQuery = CheckedQuery & ({ state: 'dead' } | { state: Exclude<ReplayableState, 'dead'>; id: string });

/** What identifies a message: its id is unique within its source. */
export type MessageKey = Pick<NewDelivery, 'source' | 'messageId'>;

/** Deliveries written in a transaction. */
export interface WrittenDeliveries {
  /** Resolves with whether the transaction was committed, soon after its end; with false if the queue closes before. */
  ended: Promise<boolean>;
  /** Those that were skipped, because their message is remembered. */
  repeated: NewDelivery[];
}

/** Stores deliveries in transactions of the application. */
export interface TransactionStore {
  /**
   * Returns what stores deliveries in a transaction, all or none, with one statement. They exist once the transaction is
   * committed. Those whose message is remembered are skipped; one that another open transaction has is waited for.
   *
   * @param transaction of a package that is known, or a `TransactionRunner`
   * @throws {TransactionError} if it is no open transaction
   */
  join(transaction: unknown): (deliveries: NewDelivery[]) => Promise<WrittenDeliveries>;
}

/**
 * Storage for the deliveries of a queue; what `DeliveryQueue` says of a method with the same name holds here too.
 * A lease is a mark in the store. An embedded store handles calls in order, and opening it ends each lease that its
 * owner does not hold. In a shared store, a lease ends with its process.
 *
 * The suites in `test/webhook-destination/queue/conformance` specify what every store must do.
 */
export interface DeliveryStore {
  /** Whether other processes take deliveries too: each then holds only a few, so that the others get some. */
  readonly isShared: boolean;
  /**
   * Number of added deliveries that are inserted at once; fewer wait until the end of the turn of the event loop, for
   * others to be inserted with them.
   */
  readonly fullTurn: number;
  readonly registry: RegistryStore;
  readonly series: SeriesStore;
  readonly logs: LogStore;
  /** Stores deliveries in transactions of the application; undefined if it cannot. */
  readonly transactions: TransactionStore | undefined;
  /** Undefined if no other process can use the store. */
  readonly peers: PeerChannel | undefined;
  /**
   * Emits destinations that got a due delivery from another process or through the end of one. On subscription, and
   * when the store is opened, it also emits those that already have one. Further names may be emitted.
   */
  readonly due$: Observable<string>;
  /** Returns the time that due times are compared with, in ms since the epoch. */
  now(): number;
  /**
   * Whether no other process can have ended the leases granted so far. While it returns false, nothing is handed out.
   * Called for each delivery.
   */
  holdsLeases(): boolean;
  open(owner: StoreOwner): Promise<void>;
  /**
   * Stores all deliveries or none, skipping those whose message is remembered. Resolves once they are durable, with what
   * became of each batch.
   *
   * @param beyondLimit as in `DeliveryQueue.add`
   */
  insert(batches: StoreBatch[], now: number, beyondLimit: boolean): Promise<Insertion[]>;
  /** Returns those of the destinations for which a message is remembered, so that `insert` would skip it. */
  remembers(message: MessageKey, destinations: readonly string[], now: number): Promise<string[]>;
  claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim>;
  /**
   * Settles leased deliveries. Resolves once that is durable, with whether each was still leased, or why that is not
   * known. One in doubt that is no longer leased counts as settled, unless the store shows that it was not.
   */
  settle(settlements: Settlement[], now: number): Promise<(boolean | Error)[]>;
  list(query: CheckedQuery, page: CheckedPage): Promise<DeliveryRecord[]>;
  search(search: CheckedSearch, page: CheckedPage): Promise<DeliveryPortion>;
  check(): Promise<QueueCondition>;
  oldest(): Promise<OldestDelivery[]>;
  counts(except?: readonly string[]): Promise<DeliveryCount[]>;
  keptSince(): Promise<KeptSince[]>;
  /** Makes deliveries due at `now`, as `DeliveryQueue.replay`; resolves with the destination of each. */
  replay(query: ReplayQuery, now: number): Promise<string[]>;
  /** Makes open deliveries of a destination due at `now`; resolves with the number of those not due before. */
  expedite(destination: string, now: number): Promise<number>;
  /** Resolves with what was removed; a source may come several times. */
  purge(query: CheckedQuery, keepsNotices: boolean): Promise<PurgedSource[]>;
  /** Overwrites what purged deliveries have left in the files of the store. */
  scrub(): Promise<void>;
  /** Removes records past their retention, and what replaced entries of the registry have left in the store's files. */
  sweep(retention: Retention, now: number): Promise<SweptRecords>;
  /** Called when the queue begins to close. All calls, the last ones and `close` included, then end within seconds. */
  beginClose(): void;
  close(): Promise<void>;
}
