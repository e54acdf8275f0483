import type { AttemptRecord } from '../queue/attempt-record.interface.js';
import { toDelivery } from '../queue/delivery.factory.js';
import { bodyToSend } from './body-transform.js';
import type { DeliveryOptions } from './delivery.options.js';
import type { DestinationOptions } from './destination.options.js';
import { DestinationSender } from './destination.sender.js';
import { RequestLimit } from './request-limit.js';
import type { PoolFactory } from './transport.factory.js';
import { WebhookHeaders } from './webhook-headers.js';
import { toWebhookTarget } from './webhook-target.js';

/** Maximum number of concurrent requests to one URL, as a multiple of the concurrency. */
const ACTIVE_FACTOR = 4;

/** Creates the sender of a destination, with its connections, headers and limits. */
export function createSender(
  destination: DestinationOptions,
  delivery: DeliveryOptions,
  createPool: PoolFactory,
): DestinationSender {
  const { urls, rateLimit, propagateTrace } = destination;
  const { concurrency = delivery.concurrency, retryOn = delivery.retryOn } = destination;
  const routes = urls.map(toWebhookTarget).map((target) => ({
    target,
    pool: createPool(target, concurrency),
    active: 0,
  }));
  const headers = new WebhookHeaders(destination);
  const limit = rateLimit && new RequestLimit(rateLimit);
  return new DestinationSender(headers, routes, concurrency * ACTIVE_FACTOR, retryOn, limit, propagateTrace);
}

/** Sends a message to a destination once, outside the queue, and closes the sender. */
export async function sendTest(
  sender: DestinationSender,
  { name, transform }: DestinationOptions,
  body: Buffer,
  messageId: string,
  startedAt: number,
): Promise<AttemptRecord> {
  const message = { destination: name, source: 'test', messageId, userId: undefined, body, acceptedAt: startedAt };
  const delivery = toDelivery(message, messageId);
  try {
    const made = bodyToSend(transform, delivery, startedAt);
    const sent = Buffer.isBuffer(made) ? await sender.send(delivery, made, () => true) : undefined;
    return { startedAt, results: (sent ?? []).map(({ result }) => result) };
  } finally {
    await sender.close();
  }
}
