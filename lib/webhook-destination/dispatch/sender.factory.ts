import type { AttemptRecord } from '../queue/attempt-record.interface.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';
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

/** Source name of a test message. */
const TEST_SOURCE = 'test';

/** Creates the sender of a destination, with its connections, headers and limits. */
export class SenderFactory {
  // Private, because it contains keys.
  readonly #delivery: DeliveryOptions;

  constructor(
    private readonly createPool: PoolFactory,
    delivery: DeliveryOptions,
  ) {
    this.#delivery = delivery;
  }

  create(destination: DestinationOptions): DestinationSender {
    const { urls, rateLimit, propagateTrace } = destination;
    const { concurrency = this.#delivery.concurrency, retryOn = this.#delivery.retryOn } = destination;
    const routes = urls.map(toWebhookTarget).map((target) => ({
      target,
      pool: this.createPool(target, concurrency),
      active: 0,
    }));
    const headers = new WebhookHeaders(destination);
    const limit = rateLimit && new RequestLimit(rateLimit);
    return new DestinationSender(headers, routes, concurrency * ACTIVE_FACTOR, retryOn, limit, propagateTrace);
  }

  /** Sends a message to a destination once, outside the queue, over separate connections. */
  async test(
    destination: DestinationOptions,
    body: Buffer,
    messageId: string,
    startedAt: number,
  ): Promise<AttemptRecord> {
    const delivery: Delivery = {
      destination: destination.name,
      source: TEST_SOURCE,
      messageId,
      userId: undefined,
      body,
      acceptedAt: startedAt,
      id: messageId,
      firstAttemptAt: undefined,
      attempts: [],
      failedUrls: [],
    };
    const made = bodyToSend(destination.transform, delivery, startedAt);
    if (!Buffer.isBuffer(made)) return { startedAt, results: [] };
    const sender = this.create(destination);
    try {
      const sent = await sender.send(delivery, made, () => true);
      return { startedAt, results: (sent ?? []).map(({ result }) => result) };
    } finally {
      await sender.close();
    }
  }
}
