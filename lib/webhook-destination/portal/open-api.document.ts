import type { CatalogueEvent } from './event-catalogue.js';
import { type KeyedEvent, messageReference, toSchemas, WEBHOOK_HEADERS, withKeys } from './webhook.schema.js';

const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds, or an HTTP date, until which no message of this endpoint is sent.',
    schema: { type: 'string' },
  },
};

/** What the relay makes of an answer. @see docs/specification.md, "Delivery attempts" */
const RESPONSES = {
  '2XX': { description: 'The message is delivered. The body is ignored. Answer within five seconds.' },
  '410': { description: 'The endpoint is gone: the message is not sent again, and the endpoint is disabled.' },
  '429': { description: 'The message is sent again later.', headers: RETRY_AFTER },
  '503': { description: 'The message is sent again later.', headers: RETRY_AFTER },
  '4XX': { description: 'The message is not sent again, except after 408, 425 and 429.' },
  '5XX': { description: 'The message is sent again later, with growing pauses.' },
};

/** Returns an OpenAPI 3.1 document with a webhook for each event. */
export function toOpenApi(events: CatalogueEvent[], title: string): object {
  const keyed = withKeys(events);
  return {
    openapi: '3.1.0',
    info: { title, version: '1' },
    webhooks: Object.fromEntries(keyed.map((event) => [event.name, { post: toOperation(event) }])),
    components: {
      schemas: toSchemas(keyed),
      parameters: Object.fromEntries(
        Object.entries(WEBHOOK_HEADERS).map(([name, { isRequired = false, ...header }]) => [
          name,
          { name, in: 'header', required: isRequired, ...header },
        ]),
      ),
    },
  };
}

function toOperation(event: KeyedEvent): object {
  const { key, name, description, example } = event;
  return {
    operationId: key,
    summary: name,
    ...(description !== undefined && { description }),
    parameters: Object.keys(WEBHOOK_HEADERS).map((header) => ({ $ref: `#/components/parameters/${header}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: messageReference(event), ...(example && { example }) } },
    },
    responses: RESPONSES,
  };
}
