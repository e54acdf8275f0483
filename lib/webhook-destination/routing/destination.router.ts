import { randomUUID } from 'node:crypto';

import type { IntegrationsOptions, Message } from '../../client/message/message.interface.js';
import type { DestinationOptions } from '../options/destination.options.js';
import type { NewDelivery } from '../queue/delivery-queue.interface.js';
import { toDeleteBody, toWebhookBody } from './webhook.body.js';

/** Decides which destinations get a message, and what they get (§1, §2.2). */
export class DestinationRouter {
  constructor(private readonly destinations: DestinationOptions[]) {}

  /** One delivery for each destination that is to get the message. */
  route(source: string, message: Message, acceptedAt: number): NewDelivery[] {
    const takers = this.destinations.filter((destination) => takes(destination, source, message));
    if (takers.length === 0) return [];
    const body = toWebhookBody(message);
    return takers.map(({ name }) => ({
      destination: name,
      source,
      messageId: message.messageId,
      userId: message.userId,
      body,
      acceptedAt,
    }));
  }

  /**
   * One delete notification for each enabled destination of the source, whatever its `types` are: what a receiver has
   * got of a user, it must learn to remove (§1, §6.1).
   */
  routeDeletion(source: string, userId: string, requestedAt: number): NewDelivery[] {
    const body = toDeleteBody(userId, new Date(requestedAt));
    return this.destinations
      .filter((destination) => serves(destination, source))
      .map(({ name }) => ({
        destination: name,
        source,
        messageId: randomUUID(),
        userId,
        body,
        acceptedAt: requestedAt,
      }));
  }
}

function serves({ enabled, sources }: DestinationOptions, source: string): boolean {
  return enabled && (sources === undefined || sources.includes(source));
}

function takes(destination: DestinationOptions, source: string, message: Message): boolean {
  const { name, types } = destination;
  return (
    serves(destination, source) &&
    (types === undefined || types.includes(message.type)) &&
    isWanted(name, message.integrations)
  );
}

/** A destination named in `integrations` is told by its own value, any other by `All`; the default is on (§2.2). */
function isWanted(destination: string, integrations: IntegrationsOptions = {}): boolean {
  const own = Object.hasOwn(integrations, destination) ? integrations[destination] : undefined;
  return own === undefined ? integrations.All !== false : own !== false;
}
