import { fromTraceText } from '../../client/telemetry/trace-context.js';
import type { LogFields } from '../../common/line.logger.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';
import type { DeliveryEvent } from './delivery-event.js';

/** Returns the fields of a log line about a delivery. */
export function deliveryFields({ id, messageId, destination, trace }: Readonly<Delivery>): LogFields {
  return { messageId, deliveryId: id, destination, traceId: trace && fromTraceText(trace).traceparent.split('-')[1] };
}

/**
 * Returns the fields of a log line about an attempt: of several URLs, the first status answered and the duration of the
 * slowest request.
 */
export function attemptFields(delivery: Readonly<Delivery>, { attempt, results }: DeliveryEvent): LogFields {
  return {
    ...deliveryFields(delivery),
    attempt,
    status: results.find(({ status }) => status !== undefined)?.status,
    latencyMs: results.length === 0 ? undefined : Math.max(...results.map(({ duration }) => duration)),
  };
}
