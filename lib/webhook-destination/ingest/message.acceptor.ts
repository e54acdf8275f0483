import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import { timeOf } from '../queue/steady.clock.js';
import type { DestinationRouter } from '../routing/destination.router.js';
import { findIncomingFault, IncomingMessage } from './incoming.message.js';
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
  async accept(source: string, { messages: posted, sentAt }: PostedBatch): Promise<AcceptResult> {
    const receivedAt = Date.now();
    const rejected: RejectedMessage[] = [];
    const messages: IncomingMessage[] = [];
    for (let index = 0; index < posted.length; index++) {
      const fault = findIncomingFault(posted[index]!);
      if (fault) rejected.push({ index, ...fault });
      else messages.push(new IncomingMessage(posted[index]!, receivedAt, sentAt));
    }
    await this.queue.add(this.router.route(source, messages, timeOf(this.queue)));
    return { accepted: posted.length - rejected.length, rejected };
  }
}
