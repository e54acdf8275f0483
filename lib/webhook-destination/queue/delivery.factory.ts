import type { Delivery, NewDelivery } from './delivery.interface.js';

/** Empty list that all deliveries without attempts share; never modified. */
export const NONE: never[] = [];

/** Creates a delivery without attempts. It copies field by field because that is fastest. */
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
