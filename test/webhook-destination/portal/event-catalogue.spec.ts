import 'reflect-metadata';

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { defineEvent } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import type { JsonSchema } from '../../../lib/common/event-class/json-schema.interface.js';
import { sampleOf } from '../../../lib/webhook-destination/portal/schema-sample.js';
import { events as couponEvents, NewsRead, Pinged } from '../../cli/coupon.events.js';
import { OrderCompleted } from '../../cli/order.event.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';

/** From the build: Vite does not compile the `.cts` file that it imports. */
const built = new URL('../../../dist/esm/webhook-destination/portal/event-catalogue.js', import.meta.url).href;
const { EventCatalogue } = (await import(
  built
)) as typeof import('../../../lib/webhook-destination/portal/event-catalogue.js');

const cleanUp = useCleanUps();
const ajv = addFormats.default(new Ajv2020({ strict: false }));

/** The rules of a JSON Schema that a value breaks. */
function faultsOf(schema: object, value: unknown) {
  const validate = ajv.compile(schema);
  validate(value);
  return validate.errors ?? [];
}

describe('EventCatalogue', () => {
  const all = [OrderCompleted, ...couponEvents, NewsRead, Pinged];
  const catalogue = new EventCatalogue(() => all);

  it('lists event classes by name, with description and schema', () => {
    expect(catalogue.list().map(({ name }) => name)).toEqual([
      'Bundle Sold',
      'Coupon Used',
      'News Read',
      'Order Completed',
      'Pinged',
    ]);
    expect(catalogue.find('Order Completed')).toMatchObject({
      description: 'A customer paid.',
      schema: { type: 'object', properties: { orderId: { type: 'string', format: 'uuid' } } },
    });
    expect(catalogue.find('Order Completed')!.schema).not.toHaveProperty('description');
    expect(catalogue.find('order completed')).toBeUndefined();
  });

  it('has an example of each whose properties match its schema', () => {
    for (const { name, schema, example } of catalogue.list()) {
      const { properties, ...others } = example!;
      expect(others).toEqual({
        version: 1,
        type: 'track',
        userId: 'user-1',
        event: name,
        timestamp: '2026-01-31T12:00:00.000Z',
      });
      const broken = faultsOf(schema!, properties).filter(({ keyword }) => keyword !== 'pattern');
      expect(broken, name).toEqual([]);
    }
  });

  it('takes descriptions, schemas and examples from objects, and the first event of a name', () => {
    const schema = { type: 'object', properties: { plan: { enum: ['free', 'paid'] } }, required: ['plan'] };
    const events = [
      { name: 'Signed Up', description: 'Somebody came.', schema, example: { plan: 'paid', seats: 3 } },
      { name: 'Bare' },
      defineEvent('Signed Up', z.object({}), { description: 'Another.' }),
    ];
    expect(new EventCatalogue(() => events).list()).toEqual([
      { name: 'Bare', example: expect.not.objectContaining({ properties: expect.anything() }) },
      {
        name: 'Signed Up',
        description: 'Somebody came.',
        schema,
        example: expect.objectContaining({ event: 'Signed Up', properties: { plan: 'paid', seats: 3 } }),
      },
    ]);
  });

  it('has an example that is what the relay sends', async () => {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({ destinations: [{ urls: [receiver.url] }] });
    cleanUp(() => relay.stop());
    const { example } = catalogue.find('Coupon Used')!;
    await relay.service.accept('wk_shop', [example]);
    const [{ raw }] = (await receiver.received(1)) as [(typeof receiver.webhooks)[0]];
    expect(raw.toString()).toBe(JSON.stringify(example));
  });
});

describe('sampleOf', () => {
  it.each<[string, JsonSchema]>([
    ['a constant', { const: 'x' }],
    ['an enumeration', { enum: [null, 'a'] }],
    ['a default', { type: 'integer', default: 7 }],
    [
      'formats',
      {
        type: 'object',
        properties: Object.fromEntries(
          ['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'].map(
            (format) => [format, { type: 'string', format }],
          ),
        ),
      },
    ],
    ['a long text', { type: 'string', minLength: 12 }],
    ['a short text', { type: 'string', maxLength: 2 }],
    ['a number in bounds', { type: 'number', exclusiveMinimum: 0, maximum: 0.4 }],
    ['a number between bounds', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.3 }],
    ['a negative number', { type: 'number', exclusiveMaximum: 0 }],
    ['a multiple', { type: 'integer', minimum: 7, multipleOf: 5 }],
    ['a multiple below', { type: 'integer', maximum: -7, multipleOf: 5 }],
    ['a list', { type: 'array', items: { type: 'string' }, minItems: 2 }],
    ['an empty list', { type: 'array', maxItems: 0 }],
    ['a tuple', { prefixItems: [{ type: 'boolean' }, { type: 'null' }], type: 'array' }],
    ['a type that may be null', { type: ['null', 'string'] }],
    ['alternatives', { anyOf: [{ type: 'integer' }, { type: 'string' }] }],
    [
      'one of objects',
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
        oneOf: [{ properties: { b: { type: 'integer' } }, required: ['b'] }],
      },
    ],
    [
      'all of objects',
      {
        allOf: [{ $ref: '#/$defs/a~1b' }, { properties: { c: { const: 3 } }, required: ['c'] }],
        $defs: { 'a/b': { type: 'object', properties: { d: { type: 'boolean' } }, required: ['d'] } },
      },
    ],
    ['references', { $ref: '#/$defs/x%20y', $defs: { 'x y': { type: 'integer' } } }],
    [
      'a schema that contains itself',
      {
        type: 'object',
        properties: { next: { $ref: '#' }, all: { type: 'array', items: { $ref: '#' } }, id: { type: 'string' } },
      },
    ],
  ])('matches %s', (_what, schema) => {
    const sample = sampleOf(schema);
    expect(sample).not.toBeUndefined();
    expect(faultsOf(schema, sample)).toEqual([]);
    expect(sampleOf(schema)).toEqual(sample);
  });

  it.each<[string, JsonSchema]>([
    ['a reference to elsewhere', { $ref: 'https://elsewhere.example/schema' }],
    ['a reference to nothing', { $ref: '#/$defs/none' }],
    ['a reference that is no URI', { $ref: '#/%' }],
    ['keywords of wrong types', { anyOf: 7, properties: 'x' } as object as JsonSchema],
    ['references in a circle', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
  ])('is undefined for %s', (_what, schema) => {
    expect(sampleOf(schema)).toBeUndefined();
  });
});
