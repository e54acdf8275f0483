import type { MessageFault } from '../client/message/message.rules.js';
import { FieldError, WRITE_KEY_UNKNOWN } from '../common/relay.errors.js';
import type { DestinationOptions } from './dispatch/destination.options.js';
import { isPaused, type PausableDestination, timeWithin } from './dispatch/pause.util.js';
import { previewRequest, type RequestPreview } from './dispatch/request-preview.util.js';
import { AcceptedMessage, findPostedFault } from './ingest/accepted-message.js';
import { ParsedMessage } from './ingest/parsed-message.js';
import type { SourceRegistry } from './ingest/source.registry.js';
import { toDelivery } from './queue/delivery.factory.js';
import type { Delivery, DeliveryRecord } from './queue/delivery.interface.js';
import type { DeliveryQueue } from './queue/delivery.queue.js';
import { findRouteReason, type RoutableMessage, type RouteReason } from './routing/destination.router.js';
import { toWebhookBody } from './routing/webhook-body.util.js';

/** Maximum number of destinations in an explanation. */
const MAX_DESTINATIONS = 100;

/** Total length of the bodies made by transforms after which no further destination is shown, in characters. */
const MAX_MADE = 1_048_576;

/** Why destinations miss a message, those first that are the last to decide. */
const NEAREST: RouteReason[] = ['integrations', 'event', 'type', 'disabled', 'source'];

/** The destinations of an explanation. */
type Routes = Pick<Explanation, 'destinations' | 'left' | 'ofOtherSources'>;

const NOWHERE: Routes = { destinations: [], left: 0, ofOtherSources: 0 };

/** Whether a destination receives a message and, if not, why. */
export interface DestinationExplanation {
  destination: string;
  selected: boolean;
  /** Why the destination does not receive the message. */
  reason?: RouteReason;
  /**
   * `paused`: its deliveries wait. `endpoint_disabled`: they become dead without an attempt. `endpoint_paused`: so they do,
   * and are sent once the tenant resumes the endpoint.
   */
  hold?: 'paused' | 'endpoint_disabled' | 'endpoint_paused';
  /** True if a message with this messageId has been accepted for it, so that this one would not be sent to it. */
  repeated?: true;
  /** The request that the destination would receive, or would if the message were no repeated one. */
  request?: RequestPreview;
}

/** How a message would be handled. */
export interface Explanation {
  /** Name of its source; absent if its write key is unknown. */
  source?: string;
  accepted: boolean;
  /** The rule that the message breaks, if it is not accepted. */
  fault?: MessageFault;
  messageId?: string;
  /** The JSON that destinations without a `transform` receive, if the message is accepted. */
  body?: string;
  /**
   * At most 100 destinations, fewer if transforms make more than 1 MB together: those that receive the message first,
   * then those for which it is a repeated one, then the nearest misses, each sorted by name. Destinations of other
   * sources are not among them.
   */
  destinations: DestinationExplanation[];
  /** Number of destinations of the source that were left out. */
  left: number;
  /** Number of destinations that receive messages of other sources only. */
  ofOtherSources: number;
}

/** How the current options would handle a queued message. */
export interface DeliveryExplanation {
  /**
   * Whether each destination's options select the message, whose `integrations` are not stored. At most 100
   * destinations: its own first, then as in {@link Explanation}; empty for a delete notification, which is not routed.
   */
  routing: DestinationExplanation[];
  /** Number of destinations of the source that were left out of `routing`. */
  left: number;
  /** Number of destinations that receive messages of other sources only. */
  ofOtherSources: number;
  /** The request that its destination would receive now; absent if the destination is no longer in use. */
  request?: RequestPreview;
  /** When its retry window ends, unless its destination is paused meanwhile, in ms since the epoch. Absent without one. */
  givesUpAt?: number;
}

/** Explains how a message would be handled, without sending it. */
export class MessageExplainer {
  constructor(
    private readonly sources: Pick<SourceRegistry, 'names' | 'find'>,
    private readonly destinations: () => Promise<PausableDestination[]>,
    private readonly queue: DeliveryQueue,
    private readonly retryWindow: number,
  ) {}

  /**
   * @param source name of the message's source; by default the source of its `writeKey`, or else the only source
   * @throws {RelayError} `argument_invalid` if the source does not exist, or cannot be told
   */
  async explain(message: unknown, source?: string): Promise<Explanation> {
    const { names } = this.sources;
    const { writeKey } = Object(message) as { writeKey?: unknown };
    const hasKey = source === undefined && typeof writeKey === 'string' && writeKey !== '';
    const name = source ?? (hasKey ? this.sources.find(writeKey) : names.length === 1 ? names[0] : undefined);
    if (hasKey && name === undefined) {
      const unknown: MessageFault = { field: 'writeKey', code: 'write_key_unknown', message: WRITE_KEY_UNKNOWN };
      return { accepted: false, fault: unknown, ...NOWHERE };
    }
    if (name === undefined || !names.includes(name))
      throw new FieldError('argument_invalid', 'source must be the name of an existing source', 'source');
    const posted = new ParsedMessage(message);
    const fault = findPostedFault(posted);
    if (fault) return { source: name, accepted: false, fault, ...NOWHERE };
    const accepted = new AcceptedMessage(posted, Date.now());
    const { messageId, userId } = accepted;
    const body = toWebhookBody(accepted);
    const given = { destination: '', source: name, messageId, userId, body, acceptedAt: this.queue.now() };
    const delivery = toDelivery(given, messageId);
    const explained = await this.routes(name, accepted, { delivery });
    await this.addRepeats(accepted.messageId, name, explained);
    return { source: name, accepted: true, messageId, body: body.toString(), ...explained };
  }

  /** Explains how the current options would handle a queued message. */
  async explainDelivery(record: DeliveryRecord): Promise<DeliveryExplanation> {
    const options = (await this.destinations()).find(({ name }) => name === record.destination);
    const request = options && this.preview(options, { ...record, body: Buffer.from(record.body) });
    const { type, event } = JSON.parse(record.body) as { type?: string; event?: string };
    const message = { ...record, type, event, integration: () => undefined } as unknown as RoutableMessage;
    const { destinations: routing, ...others } =
      type === 'delete' ? NOWHERE : await this.routes(record.source, message, { first: record.destination });
    return { routing, ...others, ...(request && { request }), ...this.endOf(record, options) };
  }

  /** Returns when the retry window of a delivery ends, if it has begun. */
  endOf(
    { state, firstAttemptAt }: DeliveryRecord,
    destination?: PausableDestination,
  ): Pick<DeliveryExplanation, 'givesUpAt'> {
    if (firstAttemptAt === undefined || state === 'delivered' || state === 'dead') return {};
    const now = this.queue.now(); // before `jumps` are read, because it finds them
    const stopped = [...(destination?.pauses ?? []), ...this.queue.clock.jumps];
    const retryWindow = destination?.retryWindow ?? this.retryWindow;
    return { givesUpAt: firstAttemptAt + retryWindow + timeWithin(stopped, firstAttemptAt, now) };
  }

  private async routes(
    source: string,
    message: RoutableMessage,
    { delivery, first }: { delivery?: Delivery; first?: string },
  ): Promise<Routes> {
    const every = await this.destinations();
    const all = every
      .filter(({ name, sources }) => name === first || (sources?.includes(source) ?? true))
      .map((options) => ({ options, reason: findRouteReason(options, source, message) }));
    const rankOf = ({ options, reason }: (typeof all)[number]) =>
      options.name === first ? -2 : reason === undefined ? -1 : NEAREST.indexOf(reason);
    all.sort((one, other) => rankOf(one) - rankOf(other));
    const shown: DestinationExplanation[] = [];
    let made = 0;
    for (const { options, reason } of all) {
      if (shown.length === MAX_DESTINATIONS || made > MAX_MADE) break;
      const destination = options.name;
      const selected = reason === undefined;
      const request = selected && delivery ? this.preview(options, { ...delivery, destination }) : undefined;
      made += request?.body?.length ?? 0;
      const hold = holdOf(options);
      shown.push({
        destination,
        selected,
        ...(reason && { reason }),
        ...(selected && hold && { hold }),
        ...(request && { request }),
      });
    }
    return { destinations: shown, left: all.length - shown.length, ofOtherSources: every.length - all.length };
  }

  /** Adds which of the destinations would not be sent the message again. */
  private async addRepeats(messageId: string, source: string, { destinations }: Routes): Promise<void> {
    const selected = destinations.filter(({ selected }) => selected).map(({ destination }) => destination);
    const known = new Set(await this.queue.remembers({ source, messageId }, selected));
    for (const explained of destinations) if (known.has(explained.destination)) explained.repeated = true;
    const rankOf = ({ selected, repeated, request }: DestinationExplanation) =>
      !selected ? 3 : repeated ? 2 : request?.note !== undefined ? 1 : 0;
    destinations.sort((one, other) => rankOf(one) - rankOf(other));
  }

  private preview(options: DestinationOptions, delivery: Delivery): RequestPreview {
    return previewRequest(options, delivery, this.queue.now());
  }
}

function holdOf({ disabled, pauses }: PausableDestination): DestinationExplanation['hold'] {
  if (disabled) return disabled.reason === 'paused' ? 'endpoint_paused' : 'endpoint_disabled';
  return isPaused(pauses) ? 'paused' : undefined;
}
