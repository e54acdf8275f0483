import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import type { DestinationRouter } from '../routing/destination.router.js';
import { findIncomingFault, toMessage } from './incoming.message.js';
import type { AcceptResult, RejectedMessage } from './ingest.result.js';
import type { PostedBatch } from './posted.batch.js';

/** Takes messages of a known source: checks them, routes them, and puts them into the queue. */
export class MessageAcceptor {
  constructor(
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
  ) {}

  /**
   * Resolves once the good messages are in the queue, durably; the bad ones are named in the result.
   * Rejects, with none accepted, when the queue cannot take them.
   */
  async accept(source: string, { messages, sentAt, bytes = Infinity }: PostedBatch): Promise<AcceptResult> {
    const receivedAt = Date.now();
    const rejected: RejectedMessage[] = [];
    const deliveries = messages.flatMap((item, index) => {
      const fault = findIncomingFault(item, bytes);
      if (!fault)
        return this.router.route(source, toMessage(item as Record<string, unknown>, sentAt, receivedAt), receivedAt);
      rejected.push({ index, ...fault });
      return [];
    });
    await this.queue.add(deliveries);
    return { accepted: messages.length - rejected.length, rejected };
  }
}
