import type { DeliveryExplanation, DestinationExplanation } from '../../../webhook-destination/message.explainer.js';
import type { AttemptRecord } from '../../../webhook-destination/queue/attempt-record.interface.js';
import type { DeliveryRecord } from '../../../webhook-destination/queue/delivery-queue.interface.js';

export type { AttemptRecord, DestinationExplanation };
export type RequestPreview = NonNullable<DestinationExplanation['request']>;

/** The message of a delivery, as far as its body can be read. */
interface OfMessage {
  type?: string;
  event?: string;
}

/** A delivery in a list. */
export interface DeliverySummary extends Omit<DeliveryRecord, 'body' | 'attempts' | 'failedUrls'>, OfMessage {
  /** Their number. */
  attempts: number;
  lastAttempt?: AttemptRecord;
}

/** Answer of `GET deliveries`. */
export interface Deliveries {
  deliveries: DeliverySummary[];
  cursor?: string;
}

/** Answer of `GET deliveries/:id`. */
export interface Delivery extends DeliveryRecord, OfMessage, DeliveryExplanation {}
