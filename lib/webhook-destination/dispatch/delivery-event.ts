import type { UrlResult } from '../queue/attempt-record.interface.js';
import type { Delivery } from '../queue/delivery.interface.js';

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
