import type { UrlResult } from '../queue/attempt-record.interface.js';
import { type Delivery, type DeliveryOutcome, deletionOf } from '../queue/delivery.interface.js';

/** A delivery with the result of its last attempt. */
interface SettledDelivery extends Pick<Delivery, 'destination' | 'source' | 'messageId'> {
  /** Id of the deletion that it is a notification of; undefined for a message. */
  deletion?: string | undefined;
  /** Number of attempts so far. */
  attempt: number;
  /**
   * Results of the last attempt, one for each URL; empty if no attempt was made: the destination was removed or disabled,
   * or `transform` failed or sent nothing.
   */
  results: UrlResult[];
}

/** Outcome of a delivery attempt. `nextAttemptAt` is in ms since the epoch. */
export type DeliveryEvent =
  | (SettledDelivery & { type: 'delivered' })
  | (SettledDelivery & { type: 'retry'; nextAttemptAt: number })
  | (SettledDelivery & { type: 'dead'; reason: string });

/** Returns the event for an outcome; undefined if the delivery was only put back. */
export function toDeliveryEvent(delivery: Readonly<Delivery>, outcome: DeliveryOutcome): DeliveryEvent | undefined {
  const { destination, source, messageId, attempts } = delivery;
  const { attempt } = outcome;
  const settled = {
    destination,
    source,
    messageId,
    deletion: deletionOf(delivery),
    attempt: attempts.length + (attempt ? 1 : 0),
    results: attempt?.results ?? [],
  };
  if (outcome.state === 'delivered') return { type: 'delivered', ...settled };
  if (outcome.state === 'dead') return { type: 'dead', reason: outcome.reason, ...settled };
  return attempt && { type: 'retry', nextAttemptAt: outcome.nextAttemptAt, ...settled };
}
