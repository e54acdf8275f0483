import type { IntegrationsOptions, Message } from '../../client/message/message.interface.js';
import type { DestinationOptions } from '../options/destination.options.js';
import type { NewDelivery } from '../queue/delivery-queue.interface.js';
import { toWebhookBody } from './webhook.body.js';

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
}

function takes({ name, enabled, sources, types }: DestinationOptions, source: string, message: Message): boolean {
  return (
    enabled &&
    (sources === undefined || sources.includes(source)) &&
    (types === undefined || types.includes(message.type)) &&
    isWanted(name, message.integrations)
  );
}

/** A destination named in `integrations` is told by its own value, any other by `All`; the default is on (§2.2). */
function isWanted(destination: string, integrations: IntegrationsOptions = {}): boolean {
  const own = Object.hasOwn(integrations, destination) ? integrations[destination] : undefined;
  return own === undefined ? integrations.All !== false : own !== false;
}
