import 'reflect-metadata';

import asyncApi from '@asyncapi/specs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';

import { events as couponEvents, NewsRead, Pinged } from '../../cli/coupon.events.js';
import { OrderCompleted } from '../../cli/order.event.js';

/** From the build: Vite does not compile the `.cts` file that it imports. */
const built = new URL('../../../dist/esm/webhook-destination/portal/event-catalogue.js', import.meta.url).href;
const { EventCatalogue } = (await import(
  built
)) as typeof import('../../../lib/webhook-destination/portal/event-catalogue.js');

/** A schema with references of each kind to its own parts. */
const money = {
  type: 'object',
  properties: {
    price: { $ref: '#/$defs/money' },
    parts: { type: 'array', items: { $ref: '#' } },
  },
  required: ['price'],
  $defs: { money: { type: 'integer', minimum: 5 } },
};

const catalogue = new EventCatalogue(
  () => [
    OrderCompleted,
    ...couponEvents,
    NewsRead,
    Pinged,
    { name: 'Paid', description: 'With <b>hostile</b> $ref #/text', schema: money },
    { name: 'Zoë / "Ünïcode" ~1' },
    { name: 'Zoë-"Ünïcode" ~1' },
    { name: '__proto__', example: { a: 1 } },
  ],
  'Shop webhooks',
);

type Json = Record<string, unknown>;
interface Document {
  components: { schemas: Record<string, Json>; messages: Record<string, Json> };
  [field: string]: unknown;
}

/** All references in a document that stand where a schema or an object may. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
    if (['const', 'enum', 'default', 'example', 'examples'].includes(name)) return [];
    return name === '$ref' && typeof part === 'string' ? [part] : referencesIn(part);
  });
}

function resolve(document: unknown, reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce((part, name) => (part as Json)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

/** The rules that the example of a message breaks of its schema in a document. */
function faultsOf(document: Document, key: string, example: unknown) {
  const ajv = addFormats.default(new Ajv2020({ strict: false }));
  ajv.addSchema({ components: document.components }, 'document');
  const validate = ajv.compile({ $ref: `document#/components/schemas/${key}` });
  validate(example);
  return (validate.errors ?? []).filter(({ keyword }) => keyword !== 'pattern');
}

const KEYS = Object.entries({
  'Order Completed': 'Order-Completed',
  'Coupon Used': 'Coupon-Used',
  'Bundle Sold': 'Bundle-Sold',
  'News Read': 'News-Read',
  Pinged: 'Pinged',
  Paid: 'Paid',
});

describe('The OpenAPI document of a catalogue', () => {
  const document = catalogue.openApi() as Document & { webhooks: Record<string, { post: Json }> };

  it('is valid, as its schema says', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result).toMatchObject({ valid: true });
  });

  it('is valid without events', async () => {
    const empty = new EventCatalogue(() => []).openApi() as Json;
    expect(await new Validator().validate(empty)).toMatchObject({ valid: true });
  });

  it('has a webhook for each event, with the headers of the requests and the answers', () => {
    expect(Object.keys(document.webhooks)).toEqual(catalogue.list().map(({ name }) => name));
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Shop webhooks' } });
    const { parameters, responses } = document.webhooks['Order Completed']!.post as Record<string, Json[]>;
    const names = parameters!.map(({ $ref }) => (resolve(document, $ref as string) as { name: string }).name);
    expect(names).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'X-Message-Id',
      'X-Signature',
      'X-Signature-Previous',
    ]);
    expect(Object.keys(responses!).sort()).toEqual(['2XX', '410', '429', '4XX', '503', '5XX']);
    for (const status of ['429', '503'] as const) {
      expect((responses as unknown as Record<string, Json>)[status]).toHaveProperty('headers.Retry-After');
    }
  });

  it.each(KEYS)('has a schema of %s that its example matches', (name, key) => {
    const { requestBody } = document.webhooks[name]!.post as { requestBody: { content: Record<string, Json> } };
    const { schema, example } = requestBody.content['application/json']!;
    expect(schema).toEqual({ $ref: `#/components/schemas/${key}` });
    expect(example).toEqual(catalogue.find(name)!.example);
    expect(faultsOf(document, key, example)).toEqual([]);
    expect(faultsOf(document, key, { ...(example as Json), event: 'Another' })).not.toEqual([]);
  });

  it('has no reference that leads nowhere, and leaves values alone that only look like one', () => {
    const references = referencesIn(document);
    expect(references).toContain('#/components/schemas/Paid.properties/$defs/money');
    for (const reference of references) expect(resolve(document, reference), reference).toBeDefined();
    const text = { enum: ['#/$defs/money'], default: '#/$defs/money' };
    const data = { type: 'object', properties: { $ref: text, rate: { const: { $ref: '#/$defs/money' } } } };
    const { components } = new EventCatalogue(() => [{ name: 'Data', schema: data }]).openApi() as Document;
    expect(components.schemas['Data.properties']).toEqual(data);
  });

  it('gives names that are alike different keys', () => {
    const keys = Object.keys(document.components.schemas);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.every((key) => /^[\w.-]+$/.test(key))).toBe(true);
    expect(keys.filter((key) => key.startsWith('Zo'))).toHaveLength(2);
  });
});

describe('The AsyncAPI document of a catalogue', () => {
  const document = catalogue.asyncApi() as Document;

  it.each([
    ['with events', document],
    ['without events', new EventCatalogue(() => []).asyncApi()],
  ])('is valid %s, as its schema says', (_what, given) => {
    const schema = structuredClone(asyncApi.schemas['3.0.0']) as { definitions: Json };
    delete schema.definitions['http://json-schema.org/draft-07/schema']; // Ajv has it
    const validate = addFormats.default(new Ajv({ strict: false, allErrors: true })).compile(schema);
    validate(given);
    expect(validate.errors).toBeNull();
  });

  it('has a message and an operation for each event', () => {
    const names = Object.values(document.components.messages).map(({ name }) => name);
    expect(names).toEqual(catalogue.list().map(({ name }) => name));
    expect(Object.values(document.operations as Json)).toHaveLength(names.length);
    expect(document.components.messages['Order-Completed']).toMatchObject({
      title: 'Order Completed',
      description: 'A customer paid.',
      examples: [{ payload: { event: 'Order Completed' } }],
    });
  });

  it('has no reference that leads nowhere', () => {
    for (const reference of referencesIn(document)) expect(resolve(document, reference), reference).toBeDefined();
  });

  it.each(KEYS)('has a schema of %s that its example matches', (name, key) => {
    expect(faultsOf(document, key, catalogue.find(name)!.example)).toEqual([]);
  });
});
