import type { AttemptRecord, UrlResult } from '../queue/attempt-record.interface.js';
import { toDelivery } from '../queue/delivery.factory.js';
import type { Delivery, DeliveryOutcome } from '../queue/delivery.interface.js';
import { toWebhookTarget } from '../transport/webhook-target.js';
import { bodyToSend } from './body-transform.js';
import { DestinationLoop } from './destination.loop.js';
import type { DestinationOptions } from './destination.options.js';
import type { SendingContext } from './destination.sender.js';

/**
 * Sends a message to each URL of a destination once, outside the queue, with a loop for each URL that leases nothing: a
 * delivery would be settled by the first success.
 */
export async function sendTest(
  destination: DestinationOptions,
  message: Buffer,
  messageId: string,
  context: SendingContext,
): Promise<AttemptRecord> {
  const { name, urls, transform } = destination;
  const startedAt = context.clock.now();
  const accepted = { destination: name, source: 'test', messageId, userId: undefined, acceptedAt: startedAt };
  const delivery = toDelivery({ ...accepted, body: message }, messageId);
  const body = bodyToSend(transform, delivery, startedAt);
  if (!Buffer.isBuffer(body)) {
    if (body.state !== 'dead') return { startedAt, results: [] };
    const error = body.reason;
    const failed = (url: string) =>
      ({ url: toWebhookTarget(url).shown, outcome: 'permanent', error, duration: 0 }) as const;
    return { startedAt, results: urls.map(failed) };
  }
  const send = (url: string) =>
    sendOnce({ ...destination, urls: [url], transform: undefined }, { ...delivery, body }, context);
  return { startedAt, results: (await Promise.all(urls.map(send))).flat() };
}

async function sendOnce(
  destination: DestinationOptions,
  delivery: Delivery,
  context: SendingContext,
): Promise<UrlResult[]> {
  const loop = new DestinationLoop(destination, { ...context, telemetry: undefined });
  try {
    return await new Promise((resolve) => {
      // Not recorded, so it is neither an event nor a metric.
      const settle = (outcome?: DeliveryOutcome) => Promise.resolve(Boolean(resolve(outcome?.attempt?.results ?? [])));
      loop.handle({ delivery, isWithdrawn: false, settle });
    });
  } finally {
    await loop.close();
  }
}
