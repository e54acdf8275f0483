import type { CatalogueEvent } from './event-catalogue.js';
import { type KeyedEvent, messageReference, toSchemas, WEBHOOK_HEADERS, withKeys } from './webhook.schema.js';

/** Returns an AsyncAPI 3.0 document with a message for each event. */
export function toAsyncApi(events: CatalogueEvent[], title: string): object {
  const keyed = withKeys(events);
  const byKey = <T>(toPart: (event: KeyedEvent) => T) =>
    Object.fromEntries(keyed.map((event) => [event.key, toPart(event)]));
  return {
    asyncapi: '3.0.0',
    info: { title, version: '1' },
    defaultContentType: 'application/json',
    channels: {
      endpoint: {
        address: null,
        description: 'The URL of an endpoint, to which each message is posted.',
        messages: byKey(({ key }) => ({ $ref: `#/components/messages/${key}` })),
      },
    },
    operations: byKey(({ key }) => ({
      action: 'send',
      channel: { $ref: '#/channels/endpoint' },
      messages: [{ $ref: `#/channels/endpoint/messages/${key}` }],
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    })),
    components: { messages: byKey(toMessage), schemas: { ...toSchemas(keyed), 'webhook.headers': HEADERS } },
  };
}

const HEADERS = {
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(WEBHOOK_HEADERS).map(([name, { description, schema, example }]) => [
      name,
      { ...schema, description, examples: [example] },
    ]),
  ),
  required: Object.entries(WEBHOOK_HEADERS).flatMap(([name, { isRequired }]) => (isRequired ? [name] : [])),
};

function toMessage(event: KeyedEvent): object {
  const { name, description, example } = event;
  return {
    name,
    title: name,
    ...(description !== undefined && { description }),
    headers: { $ref: '#/components/schemas/webhook.headers' },
    payload: messageReference(event),
    ...(example && { examples: [{ payload: example }] }),
  };
}
