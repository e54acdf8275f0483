import type {
  DeliveryExplanation,
  DestinationExplanation,
} from '../../../lib/webhook-destination/message.explainer.js';
import type { AttemptRecord } from '../../../lib/webhook-destination/queue/attempt-record.interface.js';
import type { DeliveryRecord } from '../../../lib/webhook-destination/queue/delivery.interface.js';

export type { AttemptRecord, DestinationExplanation };
export type RequestPreview = NonNullable<DestinationExplanation['request']>;

/** Fields of a delivery's message; absent if its body cannot be read. */
interface OfMessage {
  type?: string;
  event?: string;
}

/** A delivery in a list. */
export interface DeliverySummary extends Omit<DeliveryRecord, 'body' | 'attempts' | 'failedUrls'>, OfMessage {
  /** Number of attempts. */
  attempts: number;
  lastAttempt?: AttemptRecord;
}

/** Answer of `GET deliveries/:id`. */
export interface Delivery extends DeliveryRecord, OfMessage, DeliveryExplanation {}
