import type { Observable } from 'rxjs';

import type {
  Delivery,
  DeliveryCount,
  DeliveryOutcome,
  DeliveryPage,
  DeliveryRecord,
  NewDelivery,
  OldestDelivery,
  QueueCondition,
} from '../delivery-queue.interface.js';
import type { CheckedSearch, DeliveryPortion } from '../delivery-search.js';
import type { PeerChannel } from '../peer-channel.interface.js';
import type { CheckedQuery } from '../query.util.js';
import type { RegistryStore } from '../registry-store.interface.js';
import type { Retention } from '../retention.options.js';
import type { SeriesStore } from '../series-store.interface.js';

/** Most deliveries stored as one batch, so that a claim takes little more than it has room for. */
export const MAX_BATCH = 256;

/**
 * Bytes of bodies with which a batch is full, so that little is read for one delivery of it. Those of one request are
 * seldom as many, unless its batch lends most of them to its messages.
 */
export const FULL_BATCH = 512 * 1024;

/** Deliveries accepted together, of one destination, source and moment: they are stored together. */
export interface StoreBatch {
  deliveries: NewDelivery[];
  /** Whether they are handed out at once, and so are not to be claimed. */
  leased: boolean;
}

/** What has had no attempt; nobody writes into it. */
const NONE: never[] = [];

/** What becomes of a leased delivery: its outcome, or undefined when it is given back without an attempt. */
export interface Settlement {
  delivery: Delivery;
  outcome: DeliveryOutcome | undefined;
}

/** A delivery that nobody has attempted; copied field by field, as this is done for each one accepted. */
export function toDelivery(accepted: NewDelivery, id: string): Delivery {
  const { destination, source, messageId, userId, body, acceptedAt, trace, recordedBy } = accepted;
  return {
    destination,
    source,
    messageId,
    userId,
    body,
    acceptedAt,
    trace,
    recordedBy,
    id,
    firstAttemptAt: undefined,
    attempts: NONE,
    failedUrls: NONE,
  };
}

/** When the window of a settled delivery began; one that was never attempted or put back has none. */
export function firstAttemptAt({ delivery, outcome }: Settlement, now: number): number | undefined {
  if (outcome?.state !== 'waiting') return delivery.firstAttemptAt ?? outcome?.attempt?.startedAt;
  return delivery.firstAttemptAt ?? outcome.firstAttemptAt ?? outcome.attempt?.startedAt ?? now;
}

/** How much a claim may find, give or take what is stored together. */
export interface ClaimLimit {
  deliveries: number;
  /** Of their bodies. */
  bytes: number;
  /** Latest beginning of the window, or acceptance of what has none, in ms since the epoch. */
  windowBefore: number;
}

/** What a claim found. */
export interface Claim {
  /** Due deliveries, the oldest first, now leased. */
  deliveries: Delivery[];
  /** Whether more may be due. */
  more: boolean;
  /** When the next delivery that is not leased falls due, in ms since the epoch, unless more are due now. */
  nextDueAt: number | undefined;
}

/** What a store must know of its queue, as one that failed opens again by itself. */
export interface StoreOwner {
  /** The queue's time, in ms since the epoch. */
  now(): number;
  /** Ids of the deliveries whose outcome is not recorded yet. Their leases go on; others are due again. */
  leased(): string[];
  /** Called once the store is open again. */
  reopened(): void;
  /** Called with the ids of deliveries that another process has removed. */
  purged(ids: string[]): void;
}

/**
 * What a queue needs of the place where its deliveries lie.
 * A lease is a mark of the store. In an embedded store, which answers in the order of the calls, it ends when the store is
 * opened, unless somebody holds it; in a shared one with its process.
 */
export interface DeliveryStore {
  readonly registry: RegistryStore;
  /** Whether other processes take deliveries as well: each then holds few, so that the others get some. */
  readonly isShared?: boolean;
  /**
   * Names of destinations that came to have a due delivery by another process, or by the end of one. Those that have one
   * when it is subscribed, or the store is opened, are named as well. It may name others.
   */
  readonly due$?: Observable<string>;
  /** The store's time, in ms since the epoch; that of the system's clock where this is left out. */
  now?(): number;
  readonly series?: SeriesStore;
  readonly peers?: PeerChannel;
  open(owner: StoreOwner): Promise<void>;
  /**
   * Stores all, or none, save those whose message it remembers. Resolves once they are durable, with the stored ones
   * of each batch that is leased.
   */
  insert(batches: StoreBatch[], now: number): Promise<Delivery[][]>;
  claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim>;
  /** Resolves with whether each was leased, and so is settled now, once that is durable. */
  settle(settlements: Settlement[], now: number): Promise<boolean[]>;
  list(query: CheckedQuery, page: DeliveryPage): Promise<DeliveryRecord[]>;
  /** As that of `DeliveryQueue`, for a search without `id`. Without it, `list` is used. */
  search?(search: CheckedSearch, page: DeliveryPage): Promise<DeliveryPortion>;
  /** As that of `DeliveryQueue`. */
  check(): Promise<QueueCondition>;
  oldest(): Promise<OldestDelivery[]>;
  /** @param except as in `DeliveryQueue.counts` */
  counts(except?: readonly string[]): Promise<DeliveryCount[]>;
  /** Makes dead deliveries due at `now`; resolves with the destination of each. */
  replay(query: CheckedQuery, now: number): Promise<string[]>;
  /** Makes waiting deliveries of a destination due at `now`; resolves with the number of those that were not. */
  expedite(destination: string, now: number): Promise<number>;
  purge(query: CheckedQuery): Promise<number>;
  /** Overwrites what is left of the purged. */
  scrub(): Promise<void>;
  sweep(retention: Retention, now: number): Promise<number>;
  close(): Promise<void>;
}
