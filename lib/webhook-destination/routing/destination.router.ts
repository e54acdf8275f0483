import type { NewDelivery } from '../queue/delivery.interface.js';
import { EventFilter } from './event-filter.js';
import type { RoutingOptions } from './routing.options.js';
import { type MessageJson, toDeleteBody, toWebhookBody } from './webhook-body.util.js';

/** The parts of an accepted message that routing and webhook bodies use. */
export interface RoutableMessage extends MessageJson {
  readonly messageId: string;
  readonly userId: string | undefined;
  /** The trace in which the message was recorded; see `NewDelivery`. */
  readonly trace: string | undefined;
  /** The method or route that recorded the message; see `NewDelivery`. */
  readonly recordedBy: string | undefined;
  /** The release of the application that recorded the message; see `NewDelivery`. */
  readonly release: string | undefined;
  /** Event name of a `track` message. */
  readonly event: string | undefined;
  /** JSON that its receivers get, from the first one on: the deliveries of a message share it, and no others. */
  body?: Buffer | undefined;
  /** Returns the message's value for a name, or for `All`, in `integrations`; null and undefined count as unset. */
  integration(name: string): unknown;
}

/**
 * Number of messages whose deliveries come destination by destination. A store keeps those of one together and reads
 * them together: with more, thousands of destinations would fill the memory.
 */
const GROUP = 64;

/** Why a destination does not receive a message. */
export type RouteReason = 'disabled' | 'source' | 'type' | 'event' | 'integrations';

/** The routing options of a destination that may belong to a tenant. */
interface TenantRouting extends RoutingOptions {
  tenant?: string | undefined;
  /** Set while it is an endpoint that is disabled: its messages become dead. */
  disabled?: object | undefined;
}

/** The routing options of a destination, with its event filter compiled. */
interface RoutedDestination extends Pick<TenantRouting, 'name' | 'sources' | 'types' | 'tenant' | 'disabled'> {
  integration: string;
  /** Undefined if it receives all events. */
  events: EventFilter | undefined;
}

/**
 * Decides which destinations receive a message, and creates their deliveries.
 * @see docs/specification.md, "Destinations" and "Integrations"
 */
export class DestinationRouter {
  /** Cache of the enabled destinations of each source. */
  private readonly served = new Map<string, RoutedDestination[]>();
  /** The enabled destinations, by name. */
  private readonly destinations = new Map<string, RoutedDestination>();
  /** The disabled destinations, by name. Not their whole options, which contain secrets. */
  private readonly disabled = new Map<string, Pick<TenantRouting, 'name' | 'sources' | 'tenant'>>();
  /** The enabled destinations by the sources they name; those without `sources` are under undefined. */
  private readonly wanting = new Map<string | undefined, Set<RoutedDestination>>();

  constructor(destinations: TenantRouting[]) {
    for (const destination of destinations) this.put(destination);
  }

  /** Adds a destination, or replaces the one with the same name. */
  put(options: TenantRouting): void {
    const { name, enabled, sources, tenant } = options;
    this.remove(name);
    if (!enabled) return void this.disabled.set(name, { name, sources, tenant });
    const destination = toRouted(options);
    this.destinations.set(name, destination);
    for (const source of sources ?? [undefined]) {
      const wanting = this.wanting.get(source);
      if (wanting) wanting.add(destination);
      else this.wanting.set(source, new Set([destination]));
    }
    this.forgetServed(sources);
  }

  /** Stops routing to a destination. */
  remove(name: string): void {
    this.disabled.delete(name);
    const destination = this.destinations.get(name);
    if (!destination) return;
    this.destinations.delete(name);
    for (const source of destination.sources ?? [undefined]) {
      const wanting = this.wanting.get(source); // undefined the second time that a source is named
      wanting?.delete(destination);
      if (wanting?.size === 0) this.wanting.delete(source);
    }
    this.forgetServed(destination.sources);
  }

  /** Returns the names of the destinations that receive a message. */
  destinationsOf(source: string, message: RoutableMessage): string[] {
    return this.servedBy(source).flatMap((destination) => (takes(destination, message) ? destination.name : []));
  }

  /**
   * Creates one delivery for each message and each destination that receives it, as they are iterated.
   *
   * @param ambient the trace of messages without one of their own
   */
  *route(
    source: string,
    messages: RoutableMessage[],
    acceptedAt: number,
    ambient?: string,
  ): Generator<NewDelivery, void> {
    const served = this.servedBy(source);
    for (let start = 0; start < messages.length; start += GROUP) {
      const group = messages.length <= GROUP ? messages : messages.slice(start, start + GROUP);
      for (const destination of served) {
        for (const message of group) {
          if (!takes(destination, message)) continue;
          const body = (message.body ??= toWebhookBody(message));
          const { name } = destination;
          const { messageId, userId, recordedBy, release, trace = ambient } = message;
          yield { destination: name, source, messageId, userId, body, acceptedAt, trace, recordedBy, release };
        }
      }
    }
  }

  /**
   * Returns the names of the enabled destinations that receive messages of these sources, each with the first source.
   *
   * @param withTenants whether those of tenants are among them: they must not learn of the users of others
   */
  receiversOf(sources: readonly string[], withTenants: boolean): Map<string, string> {
    const receivers = new Map<string, string>();
    for (const source of sources) {
      for (const { name, tenant } of this.servedBy(source)) {
        if (!receivers.has(name) && (withTenants || tenant === undefined)) receivers.set(name, source);
      }
    }
    return receivers;
  }

  /** Whether a destination is an endpoint that is disabled: what is routed to it becomes dead. */
  isDisabledEndpoint(name: string): boolean {
    return this.destinations.get(name)?.disabled !== undefined;
  }

  /**
   * Returns the names of the disabled destinations of these sources.
   *
   * @param withTenants as in {@link receiversOf}
   */
  disabledOf(sources: readonly string[], withTenants: boolean): string[] {
    return [...this.disabled.values()]
      .filter((destination) => destination.sources?.some((name) => sources.includes(name)) ?? true)
      .filter(({ tenant }) => withTenants || tenant === undefined)
      .map(({ name }) => name);
  }

  /**
   * Creates one delete notification for each enabled destination of the sources, regardless of its filters: a receiver
   * must learn to erase what it received about a user.
   *
   * @param withTenants as in {@link receiversOf}
   * @param messageId of {@link toNoticeId}
   */
  routeDeletion(
    sources: readonly string[],
    withTenants: boolean,
    userId: string,
    messageId: string,
    requestedAt: number,
    acceptedAt: number,
    trace?: string,
  ): NewDelivery[] {
    const body = toDeleteBody(userId, new Date(requestedAt));
    return Array.from(this.receiversOf(sources, withTenants), ([destination, source]) => ({
      destination,
      source,
      messageId,
      userId,
      body,
      acceptedAt,
      trace,
    }));
  }

  private servedBy(source: string): RoutedDestination[] {
    let served = this.served.get(source);
    if (!served) {
      served = [...(this.wanting.get(undefined) ?? []), ...(this.wanting.get(source) ?? [])];
      this.served.set(source, served);
    }
    return served;
  }

  /** @param sources sources whose cached destinations are dropped; undefined for all */
  private forgetServed(sources: string[] | undefined): void {
    if (!sources) this.served.clear();
    else for (const source of sources) this.served.delete(source);
  }
}

/** Returns why a destination does not receive a message from a source; undefined if it does. */
export function findRouteReason(
  options: RoutingOptions,
  source: string,
  message: RoutableMessage,
): RouteReason | undefined {
  if (!options.enabled) return 'disabled';
  if (options.sources && !options.sources.includes(source)) return 'source';
  return findReason(toRouted(options), message);
}

function toRouted(options: TenantRouting): RoutedDestination {
  const { name, integration = name, sources, types, tenant, disabled, events } = options;
  return { name, integration, sources, types, tenant, disabled, events: events && new EventFilter(events) };
}

function takes(destination: RoutedDestination, message: RoutableMessage): boolean {
  return findReason(destination, message) === undefined;
}

/** The destination's own value in `integrations` applies, or else that of `All`; the default is to send. */
function findReason(
  { integration, types, events }: RoutedDestination,
  message: RoutableMessage,
): RouteReason | undefined {
  if (types !== undefined && !types.includes(message.type)) return 'type';
  if (events !== undefined && message.event !== undefined && !events.takes(message.event)) return 'event';
  return (message.integration(integration) ?? message.integration('All')) === false ? 'integrations' : undefined;
}
