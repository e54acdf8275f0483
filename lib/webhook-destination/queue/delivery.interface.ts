import type { AttemptRecord } from './attempt-record.interface.js';

/** A message accepted for one destination, which may have several URLs. */
export interface NewDelivery {
  /** Name of its destination. */
  destination: string;
  /** Name of its source. */
  source: string;
  /** Message id from the sender, unique within its source: receivers deduplicate by source and id. */
  messageId: string;
  /** User id of the message, if it has one. */
  userId: string | undefined;
  /** Stored JSON. Every attempt signs and sends these exact bytes, unless the destination has a `transform`. */
  body: Buffer;
  /** When it was accepted, in ms since the epoch. */
  acceptedAt: number;
  /**
   * W3C trace context of the recording call, if any: `traceparent`, optionally with a space and `tracestate`. One that
   * came with a request begins with `posted` and a space.
   */
  trace?: string | undefined;
  /** Method or route that recorded the message, if known: `OrdersController.create` or `POST /orders/:id`. */
  recordedBy?: string | undefined;
  /** Release of the application that recorded the message in this process, if known. */
  release?: string | undefined;
}

/** A delivery in the queue. */
export interface Delivery extends NewDelivery {
  /** Id of the delivery in the queue. */
  id: string;
  /**
   * Start of the retry window, in ms since the epoch: that of the first recorded attempt, or the time of the last
   * replay. A lease without a recorded attempt does not begin it.
   */
  firstAttemptAt: number | undefined;
  /** Finished attempts, oldest first. */
  attempts: AttemptRecord[];
  /** URLs that failed permanently and are not tried again; stored without their secrets. */
  failedUrls: string[];
}

/** A delivery that moves here from another queue. */
export interface TakenDelivery extends Delivery {
  /** Time of the next attempt, in ms since the epoch; undefined if it is due now. */
  nextAttemptAt?: number | undefined;
}

/** Outcome of a leased delivery, which decides what the queue does next. Without `attempt`, no attempt was made. */
export type DeliveryOutcome =
  | { state: 'delivered'; attempt: AttemptRecord }
  | {
      state: 'waiting';
      attempt?: AttemptRecord;
      nextAttemptAt: number;
      failedUrls: string[];
    }
  | { state: 'dead'; attempt?: AttemptRecord; reason: string; failedUrls: string[] };

/** A delivery leased for one attempt. Only one lease exists at a time, until it is settled or the process ends. */
export interface Lease {
  readonly delivery: Readonly<Delivery>;
  /** Whether the lease is over, or may be: the delivery was purged, or may be another process's. Send nothing then. */
  readonly isWithdrawn: boolean;
  /**
   * Records the outcome; resolves once it is durable. Retries while the engine cannot write.
   *
   * @param outcome undefined returns the delivery unchanged and due immediately, at its former place
   * @returns false, with nothing changed, when the lease is over: settled before, purged, or passed to another consumer
   * @throws {Error} when the queue closed before the outcome was recorded: the delivery is then sent again
   */
  settle(outcome: DeliveryOutcome | undefined): Promise<boolean>;
}

/** All states, in the order in which a delivery passes through them. */
export const DELIVERY_STATES = ['queued', 'delivering', 'waiting', 'delivered', 'dead'] as const;

/** `queued -> delivering -> delivered | waiting | dead`; `waiting -> delivering`; lost lease: back to `waiting`. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Selects deliveries; all given fields must match. */
export interface DeliveryQuery {
  id?: string;
  destination?: string;
  /** A source, or a list of at most 1,000 sources. */
  source?: string | readonly string[];
  state?: DeliveryState;
  messageId?: string;
  /** A user id, or a list of at most 1,000 user ids. */
  userId?: string | readonly string[];
  /** A {@link DeadReason}, which stands for all reasons of its class, or an exact reason; selects dead deliveries only. */
  reason?: string;
  /** Accepted before this time, in ms since the epoch. */
  acceptedBefore?: number;
}

/** One page of a listing, newest delivery first. */
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
  /** Time of the next attempt, in ms since the epoch, while the delivery is queued or waiting. */
  nextAttemptAt: number | undefined;
  /** Why the delivery is dead; undefined in other states. */
  reason: string | undefined;
}

/** Number of deliveries of a destination in a state. */
export interface DeliveryCount {
  destination: string;
  state: DeliveryState;
  count: number;
}

/** Whether a delivery, or those counted, are open: queued, delivering or waiting. */
export function isOpen({ state }: { state: DeliveryState }): boolean {
  return state !== 'delivered' && state !== 'dead';
}

/** States of deliveries that can be replayed. */
export const REPLAYABLE_STATES = ['waiting', 'delivered', 'dead'] as const;

/** A state of deliveries that can be replayed. */
export type ReplayableState = (typeof REPLAYABLE_STATES)[number];

/** Whether deliveries in this state can be replayed: those in the other states are due already. */
export function isReplayable(state: DeliveryState): state is ReplayableState {
  return (REPLAYABLE_STATES as readonly DeliveryState[]).includes(state);
}

/** How the body of every delete notification begins, and that of no message. */
export const NOTICE_START = '{"type":"delete",';

/** What the message id of every delete notification begins with. */
const NOTICE_ID = 'delete-';

/**
 * Returns the message id of the delete notifications for a user.
 *
 * @param deletion id of the deletion, which has no dot
 * @param index index of the user in the deletion
 */
export function toNoticeId(deletion: string, index: number): string {
  return `${NOTICE_ID}${deletion}.${index}`;
}

/** Returns the index of the user that {@link toNoticeId} was given. */
export function userIndexOf(noticeId: string): number {
  return Number(noticeId.split('.')[1]);
}

/** Returns the id of the deletion that a notification belongs to; undefined for a message, whatever id its sender chose. */
export function deletionOf({ messageId, body }: Pick<NewDelivery, 'messageId' | 'body'>): string | undefined {
  if (!messageId.startsWith(NOTICE_ID) || !isNotice(body)) return undefined;
  return messageId.slice(NOTICE_ID.length).split('.', 1)[0];
}

function isNotice(body: Buffer): boolean {
  return body.toString('latin1', 0, NOTICE_START.length) === NOTICE_START;
}

/** Whether a delivery is a delete notification that is still to be sent. */
export function isOpenNotice({ body, state }: { body: Buffer; state: DeliveryState }): boolean {
  return isOpen({ state }) && isNotice(body);
}

/** The oldest open delivery of a destination. */
export interface OldestDelivery {
  destination: string;
  /** When it was accepted, in ms since the epoch. */
  acceptedAt: number;
  /**
   * When the first of the destination's open deliveries falls due, in ms since the epoch; it may be another delivery. A
   * store that does not know it leaves it out: the metric `analytics_relay.delivery.oldest_overdue` then has no value.
   */
  dueAt?: number | undefined;
}

/** How far back the records of delivered messages reach. */
export interface KeptSince {
  destination: string;
  /** When the first of the destination's kept records was delivered, in ms since the epoch. */
  since: number;
}

/** Number of deliveries of a source that a purge has removed. */
export interface PurgedSource {
  source: string;
  count: number;
}

/** Records that a sweep has removed. */
export interface SweptRecords {
  /** Number of removed records. */
  removed: number;
  /** Those of them that were young enough to stay, but exceeded the `count` or `bytes` of their retention. */
  surplus: DeliveryCount[];
}

/** Result of checking a queue that can be written. */
export interface QueueCondition {
  /** Whether the queue refuses new deliveries because it has reached its configured size limit. */
  isFull: boolean;
  /** Free space on the queue's disk, in bytes; undefined if the queue is not on a disk of this machine. */
  freeDisk: number | undefined;
  /** Number of dead deliveries whose stored data is damaged or missing. */
  unreadable: number;
}

/** Condition of a queue without a size limit that is not on a disk of this machine. */
export const UNLIMITED: Readonly<QueueCondition> = { isFull: false, freeDisk: undefined, unreadable: 0 };
