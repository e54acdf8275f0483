import { randomUUID } from 'node:crypto';

import type { NewDelivery } from '../queue/delivery-queue.interface.js';
import { EventFilter } from './event-filter.js';
import type { RouteReason } from './route.reason.js';
import type { RoutingOptions } from './routing.options.js';
import { type MessageJson, toDeleteBody, toWebhookBodies } from './webhook-body.util.js';

/** What of an accepted message decides where it goes, and what a webhook carries of it. */
export interface RoutableMessage extends MessageJson {
  readonly messageId: string;
  readonly userId: string | undefined;
  /** The trace that it was recorded in, as `NewDelivery` has it. */
  readonly trace: string | undefined;
  /** What recorded it, as `NewDelivery` has it. */
  readonly recordedBy: string | undefined;
  /** Name of the event, of a track message. */
  readonly event: string | undefined;
  /** What its `integrations` say of a destination, or of `All`; null and undefined say nothing. */
  integration(name: string): unknown;
}

/** A destination, as routing sees it. */
interface RoutedDestination extends Pick<RoutingOptions, 'name' | 'sources' | 'types'> {
  integration: string;
  /** Undefined where it gets all events. */
  events: EventFilter | undefined;
}

/** Decides which destinations get a message, and what they get: "Destinations" and "Integrations" in docs/specification.md. */
export class DestinationRouter {
  /** The enabled destinations of each source, as far as they have been asked for. */
  private readonly served = new Map<string, RoutedDestination[]>();
  /** The enabled destinations, by name. */
  private readonly destinations = new Map<string, RoutedDestination>();
  /** Those that name their sources, by source; those that do not, below undefined. */
  private readonly wanting = new Map<string | undefined, Set<RoutedDestination>>();

  constructor(destinations: RoutingOptions[] = []) {
    for (const destination of destinations) this.put(destination);
  }

  /** Routes to a destination from now on, in place of the one of this name. */
  put({ name, integration, enabled, sources, types, events }: RoutingOptions): void {
    this.remove(name);
    if (!enabled) return;
    const destination = toRouted({ name, integration, enabled, sources, types, events });
    this.destinations.set(name, destination);
    for (const source of sources ?? [undefined]) {
      const wanting = this.wanting.get(source);
      if (wanting) wanting.add(destination);
      else this.wanting.set(source, new Set([destination]));
    }
    this.forgetServed(sources);
  }

  /** Routes nothing to the destination any more. */
  remove(name: string): void {
    const destination = this.destinations.get(name);
    if (!destination) return;
    this.destinations.delete(name);
    for (const source of destination.sources ?? [undefined]) {
      const wanting = this.wanting.get(source)!;
      wanting.delete(destination);
      if (wanting.size === 0) this.wanting.delete(source);
    }
    this.forgetServed(destination.sources);
  }

  /**
   * One delivery of each message for each destination that is to get it.
   *
   * @param ambient the trace of messages that have none of their own
   */
  route(source: string, messages: RoutableMessage[], acceptedAt: number, ambient?: string): NewDelivery[] {
    const served = this.servedBy(source);
    const taken = messages.filter((message) => served.some((destination) => takes(destination, message)));
    const bodies = toWebhookBodies(taken);
    const deliveries: NewDelivery[] = [];
    for (let index = 0; index < taken.length; index++) {
      const { messageId, userId, recordedBy, trace = ambient } = taken[index]!;
      const body = bodies[index]!;
      for (const destination of served) {
        if (!takes(destination, taken[index]!)) continue;
        const { name } = destination;
        deliveries.push({ destination: name, source, messageId, userId, body, acceptedAt, trace, recordedBy });
      }
    }
    return deliveries;
  }

  /**
   * One delete notification for each enabled destination of the source, whatever its filters are: what a receiver has
   * got of a user, it must learn to remove.
   */
  routeDeletion(source: string, userId: string, requestedAt: number, acceptedAt: number): NewDelivery[] {
    const body = toDeleteBody(userId, new Date(requestedAt));
    return this.servedBy(source).map(({ name }) => ({
      destination: name,
      source,
      messageId: randomUUID(),
      userId,
      body,
      acceptedAt,
    }));
  }

  /** The enabled destinations of a source. */
  private servedBy(source: string): RoutedDestination[] {
    let served = this.served.get(source);
    if (!served) {
      served = [...(this.wanting.get(undefined) ?? []), ...(this.wanting.get(source) ?? [])];
      this.served.set(source, served);
    }
    return served;
  }

  /** @param sources those concerned; undefined for all */
  private forgetServed(sources: string[] | undefined): void {
    if (!sources) this.served.clear();
    else for (const source of sources) this.served.delete(source);
  }
}

/** Why a destination does not get a message of a source; undefined if it gets it. */
export function findRouteReason(
  options: RoutingOptions,
  source: string,
  message: RoutableMessage,
): RouteReason | undefined {
  if (!options.enabled) return 'disabled';
  if (options.sources && !options.sources.includes(source)) return 'source';
  return findReason(toRouted(options), message);
}

function toRouted({ name, integration = name, sources, types, events }: RoutingOptions): RoutedDestination {
  return { name, integration, sources, types, events: events && new EventFilter(events) };
}

function takes(destination: RoutedDestination, message: RoutableMessage): boolean {
  return findReason(destination, message) === undefined;
}

/** A destination named in `integrations` is told by its own value, any other by `All`; the default is on. */
function findReason(
  { integration, types, events }: RoutedDestination,
  message: RoutableMessage,
): RouteReason | undefined {
  if (types !== undefined && !types.includes(message.type)) return 'type';
  if (events !== undefined && message.event !== undefined && !events.takes(message.event)) return 'event';
  return (message.integration(integration) ?? message.integration('All')) === false ? 'integrations' : undefined;
}
