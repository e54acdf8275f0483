import type { DeliveryOptions } from './delivery.options.js';
import type { DestinationOptions } from './destination.options.js';
import { DestinationSender } from './destination.sender.js';
import type { RequestLimit } from './request-limit.js';
import type { PoolFactory } from './transport.factory.js';
import { WebhookHeaders } from './webhook-headers.js';
import { toWebhookTarget } from './webhook-target.js';

/** Maximum number of concurrent requests to one URL, as a multiple of the concurrency. */
const ACTIVE_FACTOR = 4;

/** Creates the sender of a destination, with its connections and headers. */
export function createSender(
  destination: DestinationOptions,
  delivery: DeliveryOptions,
  createPool: PoolFactory,
  limit?: RequestLimit,
): DestinationSender {
  const { urls, propagateTrace } = destination;
  const { concurrency = delivery.concurrency, retryOn = delivery.retryOn } = destination;
  const routes = urls.map(toWebhookTarget).map((target) => ({
    target,
    pool: createPool(target, concurrency),
    active: 0,
  }));
  const headers = new WebhookHeaders(destination);
  return new DestinationSender(headers, routes, concurrency * ACTIVE_FACTOR, retryOn, propagateTrace, limit);
}
