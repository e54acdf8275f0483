import type { JsonSchema } from '../../common/event-class/json-schema.interface.js';
import type { CatalogueEvent } from './event-catalogue.js';

/** An event with the key of its parts in a document, which may only have some characters. */
export interface KeyedEvent extends CatalogueEvent {
  key: string;
}

/** A header of the requests. */
interface WebhookHeader {
  description: string;
  schema: JsonSchema;
  example: string;
  isRequired?: boolean;
}

const text: JsonSchema = { type: 'string' };

/** Headers of the requests, apart from those that every request has. */
export const WEBHOOK_HEADERS: Record<string, WebhookHeader> = {
  'webhook-id': {
    description:
      'Identifies the message: the same at each attempt. Signed; deduplicate by it. Present if the endpoint has a secret of 24 bytes or more, or a private key.',
    schema: text,
    example: 'shop:6f1c2d9e-1',
  },
  'webhook-timestamp': {
    description: 'When the request was made, in seconds since 1970. Signed; refuse what is older than five minutes.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1795882263',
  },
  'webhook-signature': {
    description:
      'Signatures of Standard Webhooks over id, time and body, separated by a space: `v1,` and an HMAC-SHA256 in base64, or `v1a,` and an Ed25519 signature in base64. While the secret is rotated there are two, of which one must match.',
    schema: text,
    example: 'v1,ORCxsWFZpH2MCzj6GdDHH09K5efkXAjo3FEbFpDXGPE=',
  },
  'X-Message-Id': {
    description: 'Id of the message. Not signed.',
    schema: text,
    example: '6f1c2d9e-1',
    isRequired: true,
  },
  'X-Signature': {
    description:
      "HMAC-SHA1 of the body's bytes, in lowercase hexadecimal, with the secret. It covers neither id nor time. Absent without a secret, and with a private key.",
    schema: { type: 'string', pattern: '^[0-9a-f]{40}$' },
    example: 'd78797bfac6b93d03ea616f545e5c8ec40559103',
  },
  'X-Signature-Previous': {
    description: 'The same with the previous secret, while the secret is rotated.',
    schema: { type: 'string', pattern: '^[0-9a-f]{40}$' },
    example: '0b3f4bd2a1b1f5f86a6cf1b9f4c0c8ed2c1c5a57',
  },
};

/** Gives each event a key: its name, with a hyphen for other characters than letters, digits and `_`. */
export function withKeys(events: CatalogueEvent[]): KeyedEvent[] {
  const used = new Set<string>();
  return events.map((event) => {
    const key = event.name.replace(/\W+/g, '-');
    let unique = key;
    for (let number = 2; used.has(unique); number++) unique = `${key}-${number}`;
    used.add(unique);
    return { ...event, key: unique };
  });
}

/** Returns the schemas of the messages and of their properties, by the names that `messageReference` has for them. */
export function toSchemas(events: KeyedEvent[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    events.flatMap((event): [string, JsonSchema][] => {
      const { key, schema } = event;
      const properties = `${key}.properties`;
      const message: [string, JsonSchema] = [
        key,
        toMessageSchema(event, schema && `#/components/schemas/${properties}`),
      ];
      return schema
        ? [message, [properties, moved(schema, `#/components/schemas/${properties}`) as JsonSchema]]
        : [message];
    }),
  );
}

export function messageReference({ key }: KeyedEvent): { $ref: string } {
  return { $ref: `#/components/schemas/${key}` };
}

/** @see docs/specification.md, "Webhook bodies" */
function toMessageSchema({ name, description, schema }: CatalogueEvent, properties: string | undefined): JsonSchema {
  const isRequired = (schema?.required?.length ?? 0) > 0;
  return {
    title: name,
    ...(description !== undefined && { description }),
    type: 'object',
    properties: {
      version: { const: 1, description: 'Version of the layout.' },
      type: { const: 'track' },
      userId: { type: 'string', description: 'The user, if known.' },
      anonymousId: { type: 'string', description: 'A visitor who is not known as a user.' },
      event: { const: name },
      properties: properties === undefined ? { type: 'object' } : { $ref: properties },
      context: { type: 'object', description: 'Where the event happened, such as the page and the locale.' },
      timestamp: { type: 'string', format: 'date-time', description: 'When the event happened.' },
    },
    required: ['version', 'type', 'event', ...(isRequired ? ['properties'] : []), 'timestamp'],
  };
}

/** Keywords whose values are data, not schemas. */
const DATA = ['const', 'enum', 'default', 'examples', 'example'];

/** Returns a schema with its references to its own parts as they are in a document, where it has this place. */
function moved(schema: unknown, place: string, isMap = false): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((part) => moved(part, place));
  if (!isMap && '$id' in schema) return schema; // its references resolve within it
  return Object.fromEntries(
    Object.entries(schema as Record<string, unknown>).map(([name, value]) => {
      if (!isMap && DATA.includes(name)) return [name, value];
      if (!isMap && name === '$ref' && typeof value === 'string') return [name, value.replace(/^#/, place)];
      const isNames =
        !isMap && ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'].includes(name);
      return [name, moved(value, place, isNames)];
    }),
  );
}
