import { ArgumentError } from '../common/relay.errors.js';
import type { DestinationOptions } from './dispatch/destination.options.js';
import { previewRequest, type RequestPreview } from './dispatch/request.preview.js';
import { AcceptedMessage, findPostedFault } from './ingest/accepted-message.js';
import { ParsedMessage } from './ingest/parsed-message.js';
import type { RejectedMessage } from './ingest/ingest.result.js';
import { type Delivery, type DeliveryQueue, type DeliveryRecord } from './queue/delivery-queue.interface.js';
import { timeOf } from './queue/steady-clock.js';
import { findRouteReason, type RoutableMessage } from './routing/destination.router.js';
import type { RouteReason } from './routing/route.reason.js';
import { toWebhookBodies } from './routing/webhook-body.util.js';

/** Destinations that an explanation has, at most: those that get the message first. */
const MAX_DESTINATIONS = 200;

/** Whether a destination gets a message, and why not. */
export interface DestinationExplanation {
  destination: string;
  selected: boolean;
  /** Why it does not get it. */
  reason?: RouteReason;
  /** What it would be sent. */
  request?: RequestPreview;
}

/** What would become of a message. */
export interface Explanation {
  /** Name of its source. */
  source: string;
  accepted: boolean;
  /** The rule that it breaks, if it is not accepted. */
  fault?: Omit<RejectedMessage, 'index'>;
  messageId?: string;
  /** Those that get it first, then in the order of their names; 200 at most. */
  destinations: DestinationExplanation[];
  /** Number of destinations left out. */
  left: number;
}

/** What today's options would do with a message that is queued. */
export interface DeliveryExplanation {
  /** As in {@link Explanation}; empty for a delete notification, which is not routed. */
  routing: DestinationExplanation[];
  /** What its destination would be sent now; absent where the destination is not in use any more. */
  request?: RequestPreview;
}

/** Says what would become of a message, and sends nothing. */
export class MessageExplainer {
  constructor(
    private readonly sourceNames: () => string[],
    private readonly destinations: () => Promise<DestinationOptions[]>,
    private readonly queue: DeliveryQueue,
  ) {}

  /** @throws {ArgumentError} where the source does not exist, or none is named and there are several */
  async explain(message: unknown, source?: string): Promise<Explanation> {
    const names = this.sourceNames();
    const name = source ?? (names.length === 1 ? names[0]! : undefined);
    if (name === undefined || !names.includes(name)) throw new ArgumentError('source must be the name of a source');
    const posted = new ParsedMessage(message);
    const fault = findPostedFault(posted);
    if (fault) return { source: name, accepted: false, fault, destinations: [], left: 0 };
    const accepted = new AcceptedMessage(posted, Date.now());
    const delivery = this.toDelivery(name, accepted);
    const explained = await this.routes(name, accepted, delivery);
    return { source: name, accepted: true, messageId: accepted.messageId, ...explained };
  }

  /** What today's options would do with a queued message; its `integrations` are not known any more. */
  async explainDelivery(record: DeliveryRecord): Promise<DeliveryExplanation> {
    const options = (await this.destinations()).find(({ name }) => name === record.destination);
    const request = options && this.preview(options, { ...record, body: Buffer.from(record.body) });
    const { type, event } = JSON.parse(record.body) as { type?: string; event?: string };
    if (type === 'delete') return { routing: [], ...(request && { request }) };
    const message = { ...record, type, event, integration: () => undefined } as unknown as RoutableMessage;
    const { destinations } = await this.routes(record.source, message);
    return { routing: destinations, ...(request && { request }) };
  }

  private async routes(
    source: string,
    message: RoutableMessage,
    delivery?: Delivery,
  ): Promise<Pick<Explanation, 'destinations' | 'left'>> {
    const all = (await this.destinations()).map((options) => ({
      options,
      reason: findRouteReason(options, source, message),
    }));
    const [selected, others] = [true, false].map((is) => all.filter(({ reason }) => (reason === undefined) === is));
    const shown = [...selected!, ...others!].slice(0, MAX_DESTINATIONS).map(({ options, reason }) => {
      const destination = options.name;
      if (reason !== undefined) return { destination, selected: false, reason };
      const request = delivery && this.preview(options, { ...delivery, destination });
      return { destination, selected: true, ...(request && { request }) };
    });
    return { destinations: shown, left: all.length - shown.length };
  }

  private preview(options: DestinationOptions, delivery: Delivery): RequestPreview {
    return previewRequest(options, delivery, timeOf(this.queue));
  }

  private toDelivery(source: string, accepted: AcceptedMessage): Delivery {
    const { messageId, userId } = accepted;
    return {
      destination: '',
      source,
      messageId,
      userId,
      body: toWebhookBodies([accepted])[0]!,
      acceptedAt: timeOf(this.queue),
      id: messageId,
      firstAttemptAt: undefined,
      attempts: [],
      failedUrls: [],
    };
  }
}
