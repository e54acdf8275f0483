import type { UrlResult } from '../queue/attempt-record.interface.js';
import type { Delivery, DeliveryOutcome } from '../queue/delivery-queue.interface.js';

/** The delivery, and the result of its last attempt. */
interface SettledDelivery extends Pick<Delivery, 'destination' | 'source' | 'messageId'> {
  /** Attempts so far. */
  attempt: number;
  /**
   * Result of the last one for each URL; empty when the delivery was given up without another attempt, or `transform`
   * sent nothing.
   */
  results: UrlResult[];
}

/** Outcome of an attempt to deliver. `nextAttemptAt` is in ms since the epoch. */
export type DeliveryEvent =
  | (SettledDelivery & { type: 'delivered' })
  | (SettledDelivery & { type: 'retry'; nextAttemptAt: number })
  | (SettledDelivery & { type: 'dead'; reason: string });

/** The event of an outcome; none when the delivery was only put back. */
export function toDeliveryEvent(delivery: Readonly<Delivery>, outcome: DeliveryOutcome): DeliveryEvent | undefined {
  const { destination, source, messageId, attempts } = delivery;
  const { attempt } = outcome;
  const settled = {
    destination,
    source,
    messageId,
    attempt: attempts.length + (attempt ? 1 : 0),
    results: attempt?.results ?? [],
  };
  if (outcome.state === 'delivered') return { type: 'delivered', ...settled };
  if (outcome.state === 'dead') return { type: 'dead', reason: outcome.reason, ...settled };
  return attempt && { type: 'retry', nextAttemptAt: outcome.nextAttemptAt, ...settled };
}
