import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import type { DestinationRouter } from '../routing/destination.router.js';
import { findIncomingFault, toMessage } from './incoming.message.js';
import type { AcceptResult, RejectedMessage } from './ingest.result.js';

/** Takes messages of a known source: checks them, routes them, and puts them into the queue. */
export class MessageAcceptor {
  constructor(
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
  ) {}

  /**
   * Resolves once the good messages are in the queue, durably; the bad ones are named in the result.
   * Rejects, with none accepted, when the queue cannot take them.
   *
   * @param sentAt when the sender posted them, by its own clock
   */
  async accept(source: string, posted: unknown[], sentAt?: unknown): Promise<AcceptResult> {
    const receivedAt = Date.now();
    const rejected: RejectedMessage[] = [];
    const deliveries = posted.flatMap((item, index) => {
      const fault = findIncomingFault(item);
      if (!fault)
        return this.router.route(source, toMessage(item as Record<string, unknown>, sentAt, receivedAt), receivedAt);
      rejected.push({ index, ...fault });
      return [];
    });
    await this.queue.add(deliveries);
    return { accepted: posted.length - rejected.length, rejected };
  }
}
