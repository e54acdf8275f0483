import { Subject } from 'rxjs';

import { activeTraceText } from '../../client/telemetry/trace-context.js';
import { QUEUE_UNAVAILABLE } from '../../common/relay.errors.js';
import type { RelayMetrics } from '../metrics/relay-metrics.js';
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

/** Checks the messages of a known source, routes them, and adds them to the queue. */
export class MessageAcceptor {
  /** Emits accepted messages; costs nothing without subscribers. */
  readonly accepted$ = new Subject<Acceptance>();

  constructor(
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
    private readonly metrics?: RelayMetrics,
  ) {}

  /**
   * Resolves once the valid messages are stored durably in the queue; the result names the others.
   * Rejects, with no message accepted, if the queue cannot store them.
   *
   * @param sentAt when the sender posted the messages, by its own clock
   */
  async accept(source: string, posted: PostedMessage[], sentAt?: unknown): Promise<AcceptResult> {
    const receivedAt = Date.now();
    const rejected: RejectedMessage[] = [];
    const messages: AcceptedMessage[] = [];
    for (let index = 0; index < posted.length; index++) {
      const fault = findPostedFault(posted[index]!);
      if (fault) {
        rejected.push({ index, ...fault });
        this.metrics?.reject(fault.code);
      } else messages.push(new AcceptedMessage(posted[index]!, receivedAt, sentAt));
    }
    // Messages of other SDKs get the trace of their request.
    const deliveries = this.router.route(source, messages, timeOf(this.queue), activeTraceText());
    try {
      await this.enqueue(deliveries);
    } catch (error) {
      this.metrics?.reject(QUEUE_UNAVAILABLE);
      throw error;
    }
    if (this.accepted$.observed) this.accepted$.next({ source, messages, deliveries, rejected });
    return { accepted: posted.length - rejected.length, rejected };
  }

  /** Adds deliveries to the queue. Resolves once they are stored durably. */
  enqueue(deliveries: NewDelivery[]): Promise<void> {
    const add = () => this.queue.add(deliveries);
    return this.metrics ? this.metrics.enqueue(deliveries, add) : add();
  }
}
