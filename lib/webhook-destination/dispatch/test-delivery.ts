import type { AttemptRecord } from '../queue/attempt-record.interface.js';
import { toDelivery } from '../queue/delivery.factory.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';
import { Attempt, type SendResult } from './attempt.js';
import { bodyToSend } from './body-transform.js';
import type { DestinationOptions } from './destination.options.js';
import type { DestinationSender } from './destination.sender.js';
import { toWebhookTarget } from './webhook-target.js';

/** An attempt outside the queue. */
class TestAttempt extends Attempt {
  constructor(
    delivery: Readonly<Delivery>,
    body: Buffer,
    private readonly resolve: (results: SendResult[]) => void,
  ) {
    super(delivery, body);
  }

  end(results: SendResult[] = []): void {
    this.resolve(results);
  }

  protected mayBegin(): boolean {
    return true;
  }
}

/**
 * Sends a message to each URL of a destination once, outside the queue, with a sender of its own: a delivery would be
 * settled by the first success.
 */
export async function sendTest(
  create: (urls: DestinationOptions['urls']) => DestinationSender,
  { name, urls, transform }: DestinationOptions,
  body: Buffer,
  messageId: string,
  startedAt: number,
): Promise<AttemptRecord> {
  const message = { destination: name, source: 'test', messageId, userId: undefined, body, acceptedAt: startedAt };
  const delivery = toDelivery(message, messageId);
  const made = bodyToSend(transform, delivery, startedAt);
  if (!Buffer.isBuffer(made)) {
    if (made.state !== 'dead') return { startedAt, results: [] };
    const error = made.reason;
    const failed = (url: string) =>
      ({ url: toWebhookTarget(url).shown, outcome: 'permanent', error, duration: 0 }) as const;
    return { startedAt, results: urls.map(failed) };
  }
  const send = async (url: string): Promise<SendResult[]> => {
    const sender = create([url]);
    try {
      return await new Promise((resolve) => sender.send(new TestAttempt(delivery, made, resolve)));
    } finally {
      await sender.close();
    }
  };
  const sent = await Promise.all(urls.map(send));
  return { startedAt, results: sent.flat().map(({ result }) => result) };
}
