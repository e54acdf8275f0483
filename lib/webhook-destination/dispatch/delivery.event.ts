import type { UrlResult } from '../queue/attempt.record.js';
import type { Delivery, DeliveryOutcome } from '../queue/delivery-queue.interface.js';

/** What a delivery has come to: which one it is, and how its URLs took the attempt. */
interface SettledDelivery {
  destination: string;
  source: string;
  messageId: string;
  /** Attempts so far. */
  attempt: number;
  /** How the URLs took the last one; none when the delivery was given up without another attempt. */
  results: UrlResult[];
}

/** What became of a delivery. */
export type DeliveryEvent =
  | (SettledDelivery & { type: 'delivered' })
  | (SettledDelivery & { type: 'retry'; nextAttemptAt: Date })
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
  switch (outcome.state) {
    case 'delivered':
      return { type: 'delivered', ...settled };
    case 'waiting':
      return attempt && { type: 'retry', nextAttemptAt: new Date(outcome.nextAttemptAt), ...settled };
    case 'dead':
      return { type: 'dead', reason: outcome.reason, ...settled };
  }
}
