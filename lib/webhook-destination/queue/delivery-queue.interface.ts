import type { Observable } from 'rxjs';

import type { AttemptRecord } from './attempt-record.interface.js';
import type { DeliveryPortion, DeliverySearch } from './delivery-search.js';
import type { PeerChannel } from './peer-channel.interface.js';
import type { RegistryStore } from './registry-store.interface.js';
import type { SeriesStore } from './series-store.interface.js';

/** A message accepted for one destination, which may have several URLs. */
export interface NewDelivery {
  /** Name of its destination. */
  destination: string;
  /** Name of its source. */
  source: string;
  /** The sender's id of the message, unique within its source: receivers deduplicate by both. */
  messageId: string;
  /** The user of the message, if it has one. */
  userId: string | undefined;
  /** The JSON that is stored; signed and sent, the same bytes each time, unless the destination has a `transform`. */
  body: Buffer;
  /** When it was accepted, in ms since the epoch. */
  acceptedAt: number;
  /** The trace that it was recorded in, if any: `traceparent`, and after a space `tracestate`, of W3C Trace Context. */
  trace?: string | undefined;
  /** The method or route that recorded it, where that is known: `OrdersController.create`, or `POST /orders/:id`. */
  recordedBy?: string | undefined;
}

/** A delivery in the queue. */
export interface Delivery extends NewDelivery {
  /** Its id in the queue. */
  id: string;
  /**
   * When its first attempt began, in ms since the epoch; the retry window counts from here. A lease that ended with its
   * process, or without an attempt, starts the window too: neither restarts nor a destination that is down extend it.
   */
  firstAttemptAt: number | undefined;
  /** Finished attempts, the oldest first. */
  attempts: AttemptRecord[];
  /** URLs with a permanent failure, which are not tried again; without their secrets. */
  failedUrls: string[];
}

/**
 * Outcome of a leased delivery, which decides what the queue does next. Without `attempt`, no attempt was made: the
 * delivery is put back, or its retry window has expired.
 */
export type DeliveryOutcome =
  | { state: 'delivered'; attempt: AttemptRecord }
  | {
      state: 'waiting';
      attempt?: AttemptRecord;
      nextAttemptAt: number;
      failedUrls: string[];
      /** When the window began, where that is before the attempt: its destination was down. Only the first one counts. */
      firstAttemptAt?: number;
    }
  | { state: 'dead'; attempt?: AttemptRecord; reason: string; failedUrls: string[] };

/**
 * Why a delivery is dead that the network policy stopped. The operator's options failed, and not the receiver: once they
 * are mended, the next start sends it again. An attempt's error begins with it as well.
 */
export const ADDRESS_NOT_ALLOWED = 'address not allowed by delivery.allowedNetworks';

/** A delivery leased for one attempt. It is leased once at a time, until it is settled or the process ends. */
export interface Lease {
  readonly delivery: Readonly<Delivery>;
  /**
   * Records the outcome; resolves once it is durable. While the engine cannot write, it waits and tries again.
   *
   * @param outcome undefined gives the delivery back as it was, due at once: its window does not begin
   * @returns false, with nothing changed, when the lease is over: settled before, purged, or given to somebody else
   * @throws {Error} when the queue closed before it could be recorded: the delivery goes out once more
   */
  settle(outcome: DeliveryOutcome | undefined): Promise<boolean>;
}

/** `queued -> delivering -> delivered | waiting | dead`; `waiting -> delivering`; a lease that ended: `-> waiting`. */
export type DeliveryState = 'queued' | 'delivering' | 'waiting' | 'delivered' | 'dead';

/** Selects deliveries; all given fields must match. */
export interface DeliveryQuery {
  id?: string;
  destination?: string;
  /** Its source, or a list of sources: at most 1,000. */
  source?: string | readonly string[];
  state?: DeliveryState;
  messageId?: string;
  /** The user of the message, or a list of users: at most 1,000. */
  userId?: string | readonly string[];
  /** The exact reason of dead deliveries; others have none. */
  reason?: string;
  /** Accepted before this time, in ms since the epoch. */
  acceptedBefore?: number;
}

/** Part of a listing, the newest delivery first. */
export interface DeliveryPage {
  /**
   * Maximum number of deliveries.
   * @default 100
   */
  limit?: number;
  /** Id of the last delivery of the previous page. */
  after?: string;
}

/** A listed delivery, with its state. */
export interface DeliveryRecord extends Omit<Delivery, 'body'> {
  /** The JSON that is sent, unless the destination has a `transform`. */
  body: string;
  state: DeliveryState;
  /** Time of the next attempt, in ms since the epoch, while it is queued or waiting. */
  nextAttemptAt: number | undefined;
  /** Why it is dead. */
  reason: string | undefined;
}

/** Number of deliveries of a destination in a state. */
export interface DeliveryCount {
  destination: string;
  state: DeliveryState;
  count: number;
}

/** Whether the deliveries counted are still to be delivered. */
export function isOpen({ state }: DeliveryCount): boolean {
  return state !== 'delivered' && state !== 'dead';
}

/** The delivery of a destination that was accepted first. */
export interface OldestDelivery {
  destination: string;
  /** In ms since the epoch. */
  acceptedAt: number;
}

/** What a check of a queue found that can be written. */
export interface QueueCondition {
  /** Whether it refuses new deliveries, as it holds as many as its options allow. */
  isFull: boolean;
  /** Free space of the disk that it lies on, in bytes; undefined where that is not a disk of this machine. */
  freeDisk: number | undefined;
}

/**
 * Where accepted deliveries live until they are settled, and their records for a while after that.
 * An engine may be embedded in this process or shared by many: each consumer pulls for itself.
 * `test/webhook-destination/queue/conformance` says what each engine must do.
 */
export interface DeliveryQueue {
  /**
   * The time by which deliveries are accepted and fall due, and attempts are planned, in ms since the epoch. It should never go back.
   * Without this method it is that of the system's clock.
   */
  now?(): number;
  /** Makes the engine ready, and deliveries that a crash left in delivery due again. Rejects with what is wrong. */
  open(): Promise<void>;
  /**
   * Takes deliveries over, all or none; resolves once they are durable. Rejects when the engine cannot write.
   * One whose destination, source and messageId are those of a delivery taken before is left out, for as long as the
   * queue remembers those: a sender that saw no answer sends a message again.
   */
  add(deliveries: NewDelivery[]): Promise<void>;
  /**
   * Leases of the destination's due deliveries, the oldest first, never more than `concurrency` unsettled at once.
   * An engine may hand out more while what was settled is being recorded; what is not recorded is due again after a crash.
   * Unsubscribing stops it: what it has handed out can still be settled, all else is there for the next consumer.
   * An engine may allow one consumer at a time in a process.
   *
   * @param windowBefore leases only deliveries whose window began at that moment or before, in ms since the epoch, or that
   * were accepted then and have none; completes once none of these is due. An engine that keeps an order may complete
   * at the first delivery after that moment
   */
  consume(destination: string, concurrency: number, windowBefore?: number): Observable<Lease>;
  /**
   * Names of destinations that come to have a due delivery while nobody consumes them in this process; a destination need
   * not be consumed until it is named here, or `counts` has open deliveries of it. A shared engine also names, once
   * somebody subscribes, those that have due deliveries by then. Others may be named.
   */
  readonly due$: Observable<string>;
  /** Resolves once this process's consumers have no due delivery left to take, and what became of those taken is recorded. */
  idle(): Promise<void>;
  /** The deliveries that match, the newest first. What exists throughout is on one page, whatever moves meanwhile. */
  list(query: DeliveryQuery, page?: DeliveryPage): Promise<DeliveryRecord[]>;
  /**
   * The next deliveries that match, the newest first, as far as they are found in a short time; deliveries are not held up
   * meanwhile. Without it, {@link list} is used.
   */
  search?(search: DeliverySearch, page?: DeliveryPage): Promise<DeliveryPortion>;
  /**
   * Writes something, as durably as it takes deliveries over, and changes no delivery; rejects with why it cannot.
   * Without it, a queue counts as usable while {@link counts} can be read.
   */
  check?(): Promise<QueueCondition>;
  /**
   * The oldest queued or waiting delivery of each destination that has one. An engine that would have to read many may look
   * at those alone that are due first.
   */
  oldest?(): Promise<OldestDelivery[]>;
  /**
   * Deliveries by destination and state.
   *
   * @param except destinations that need not be counted; an engine that counts in no time may do so all the same
   */
  counts(except?: readonly string[]): Promise<DeliveryCount[]>;
  /** Makes the dead deliveries that match due now; their new window begins now. Resolves with their number. */
  replay(query: DeliveryQuery): Promise<number>;
  /** Removes the deliveries that match, bodies and attempts, whatever their state; resolves with their number. */
  purge(query: DeliveryQuery): Promise<number>;
  /** Removes the records of delivered and dead deliveries that are past their retention; resolves with their number. */
  sweep(): Promise<number>;
  /** Makes the waiting deliveries of a destination due now, as it is removed; resolves with their number. */
  expedite?(destination: string): Promise<number>;
  /** Where `registry: 'store'` keeps sources and destinations; usable while the queue is open. */
  readonly registry?: RegistryStore;
  /** Where figures by the minute are kept; usable while the queue is open. */
  readonly series?: SeriesStore;
  /** Connects the processes that share the queue; usable while the queue is open. */
  readonly peers?: PeerChannel;
  /** Releases what is leased, finishes what is being written, and closes. */
  close(): Promise<void>;
}

/** Makes a queue for one application; the `queue` option takes it. */
export interface DeliveryQueueFactory {
  (): DeliveryQueue;
  /**
   * Whether queues that this makes in several processes are one and the same, so that ingest and delivery may be
   * processes of their own.
   * @default false
   */
  readonly isShared?: boolean;
}
