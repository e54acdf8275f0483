import { Subject } from 'rxjs';

import { activeTrace, toTraceText } from '../../client/telemetry/trace-context.js';
import type { RelayTelemetry } from '../../common/telemetry/telemetry.interface.js';
import type { DeliveryQueue, NewDelivery } from '../queue/delivery-queue.interface.js';
import { timeOf } from '../queue/steady-clock.js';
import type { DestinationRouter } from '../routing/destination.router.js';
import { AcceptedMessage, findPostedFault } from './accepted-message.js';
import type { AcceptResult, RejectedMessage } from './ingest.result.js';
import type { PostedMessage } from './posted-message.interface.js';

/** Messages of one request, once the valid ones are in the queue. */
export interface Acceptance {
  source: string;
  messages: AcceptedMessage[];
  deliveries: NewDelivery[];
  rejected: RejectedMessage[];
}

/** Takes messages of a known source: checks them, routes them, and puts them into the queue. */
export class MessageAcceptor {
  /** What was accepted; costs nothing unless somebody listens. */
  readonly accepted$ = new Subject<Acceptance>();

  constructor(
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
    private readonly telemetry?: RelayTelemetry,
    private readonly refusals?: { reject(code: string): void },
  ) {}

  /**
   * Resolves once the valid messages are in the queue, durably; the result names the others.
   * Rejects, with none accepted, when the queue cannot take them.
   *
   * @param sentAt when the sender posted them, by its own clock
   */
  async accept(source: string, posted: PostedMessage[], sentAt?: unknown): Promise<AcceptResult> {
    const receivedAt = Date.now();
    const rejected: RejectedMessage[] = [];
    const messages: AcceptedMessage[] = [];
    for (let index = 0; index < posted.length; index++) {
      const fault = findPostedFault(posted[index]!);
      if (fault) {
        rejected.push({ index, ...fault });
        this.refusals?.reject(fault.code);
      } else messages.push(new AcceptedMessage(posted[index]!, receivedAt, sentAt));
    }
    const ambient = activeTrace(); // what SDKs of others record has no trace but that of the request
    const deliveries = this.router.route(source, messages, timeOf(this.queue), ambient && toTraceText(ambient));
    if (this.telemetry) await this.telemetry.enqueue(deliveries, () => this.queue.add(deliveries));
    else await this.queue.add(deliveries);
    if (this.accepted$.observed) this.accepted$.next({ source, messages, deliveries, rejected });
    return { accepted: posted.length - rejected.length, rejected };
  }
}
