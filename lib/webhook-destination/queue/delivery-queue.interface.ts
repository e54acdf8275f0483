import type { Observable } from 'rxjs';

/** What the queue keeps: one message for one destination, whatever the number of its URLs. */
export interface Delivery {
  /** Name of the destination it goes to. */
  destination: string;
  /** Name of the source it came from. */
  source: string;
  /** The same at each attempt, so that a receiver can drop a repeated one. */
  messageId: string;
  /** The user it is about, where the message names one. */
  userId: string | undefined;
  /** The JSON that is stored, signed and sent: the same bytes each time. */
  body: string;
  /** When it was accepted, in ms since the epoch. */
  acceptedAt: number;
  /** Attempts that ended so far. */
  attempts: number;
  /** When it is given up, in ms since the epoch; set with the first attempt. */
  deadline: number | undefined;
  /** URLs that failed for good and are not tried again. */
  failedUrls: string[];
}

/** What became of an attempt, and so what the queue does next. */
export type DeliveryOutcome =
  | { state: 'delivered' }
  | { state: 'waiting'; nextAttemptAt: number; deadline: number; failedUrls: string[] }
  | { state: 'dead'; reason: string; deadline: number; failedUrls: string[] };

/** A delivery handed out for one attempt; nobody else has it until it is settled or the process ends. */
export interface Lease {
  readonly delivery: Readonly<Delivery>;
  /** Records the outcome; resolves once it is durable. To be called once. */
  settle(outcome: DeliveryOutcome): Promise<void>;
}

/** How many deliveries of a destination are in a state. */
export interface DeliveryCount {
  destination: string;
  state: 'queued' | 'delivering' | 'waiting' | 'dead';
  count: number;
}

/**
 * Where accepted deliveries live until they are settled.
 * An engine may be embedded in this process or shared by many: each consumer pulls for itself.
 */
export interface DeliveryQueue {
  /** Makes the engine ready, and deliveries that a crash left in delivery due again. Rejects with what is wrong. */
  open(): Promise<void>;
  /** Takes deliveries over, all or none; resolves once they are durable. */
  add(deliveries: Delivery[]): Promise<void>;
  /**
   * Leases of the destination's due deliveries, the oldest first, never more than `concurrency` unsettled at once.
   * Unsubscribing stops it; what is leased by then can still be settled.
   */
  consume(destination: string, concurrency: number): Observable<Lease>;
  /** Deliveries by destination and state. */
  counts(): Promise<DeliveryCount[]>;
  /** Releases what is leased, finishes what is being written, and closes. */
  close(): Promise<void>;
}

/** Makes a queue for one application; the `queue` option takes it. */
export type DeliveryQueueFactory = () => DeliveryQueue;
