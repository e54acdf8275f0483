import { randomUUID } from 'node:crypto';

import type { NewDelivery } from '../queue/delivery-queue.interface.js';
import { EventFilter } from './event-filter.js';
import type { RoutingOptions } from './routing.options.js';
import { type MessageJson, toDeleteBody, toWebhookBodies } from './webhook-body.util.js';

/** What of an accepted message decides where it goes, and what a webhook carries of it. */
export interface RoutableMessage extends MessageJson {
  readonly messageId: string;
  readonly userId: string | undefined;
  /** Name of the event, of a track message. */
  readonly event: string | undefined;
  /** What its `integrations` say of a destination, or of `All`; null and undefined say nothing. */
  integration(name: string): unknown;
}

/** A destination, as routing sees it. */
interface RoutedDestination extends Pick<RoutingOptions, 'name' | 'enabled' | 'sources' | 'types'> {
  integration: string;
  /** Undefined where it gets all events. */
  events: EventFilter | undefined;
}

/** Decides which destinations get a message, and what they get: "Destinations" and "Integrations" in docs/specification.md. */
export class DestinationRouter {
  private readonly served = new Map<string, RoutedDestination[]>();
  private readonly destinations: RoutedDestination[];

  constructor(destinations: RoutingOptions[]) {
    this.destinations = destinations.map(({ name, integration = name, enabled, sources, types, events }) => ({
      name,
      integration,
      enabled,
      sources,
      types,
      events: events && new EventFilter(events),
    }));
  }

  /** One delivery of each message for each destination that is to get it. */
  route(source: string, messages: RoutableMessage[], acceptedAt: number): NewDelivery[] {
    const served = this.servedBy(source);
    const taken = messages.filter((message) => served.some((destination) => takes(destination, message)));
    const bodies = toWebhookBodies(taken);
    const deliveries: NewDelivery[] = [];
    for (let index = 0; index < taken.length; index++) {
      const { messageId, userId } = taken[index]!;
      const body = bodies[index]!;
      for (const destination of served) {
        if (!takes(destination, taken[index]!)) continue;
        deliveries.push({ destination: destination.name, source, messageId, userId, body, acceptedAt });
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
      served = this.destinations.filter(
        ({ enabled, sources }) => enabled && (sources === undefined || sources.includes(source)),
      );
      this.served.set(source, served);
    }
    return served;
  }
}

/** A destination named in `integrations` is told by its own value, any other by `All`; the default is on. */
function takes({ integration, types, events }: RoutedDestination, message: RoutableMessage): boolean {
  if (types !== undefined && !types.includes(message.type)) return false;
  if (events !== undefined && message.event !== undefined && !events.takes(message.event)) return false;
  return (message.integration(integration) ?? message.integration('All')) !== false;
}
