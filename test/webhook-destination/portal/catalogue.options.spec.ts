import { Test } from '@nestjs/testing';
import {
  defineEvent,
  memoryQueue,
  WebhookDestinationModule,
  type WebhookDestinationModuleOptions,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

/** Compiles an application with these events; resolves with the error that stops it. */
async function boot(events: unknown): Promise<{ message: string; field?: string } | undefined> {
  const options = { registry: 'store', queue: memoryQueue(), portal: { secret: 'p'.repeat(32), events } };
  const testing = Test.createTestingModule({
    imports: [WebhookDestinationModule.forRoot(options as WebhookDestinationModuleOptions)],
  });
  try {
    await (await testing.compile()).close();
    return undefined;
  } catch (error) {
    return error as { message: string; field?: string };
  }
}

const circle: Record<string, unknown> = { type: 'object' };
circle.properties = circle;

const Paid = defineEvent('Paid', z.object({ amount: z.number() }));

describe('The option portal.events', () => {
  it.each<[string, unknown, string]>([
    ['no array', { name: 'Paid' }, 'portal.events must be an array'],
    ['null', null, 'portal.events must be an array'],
    ['a name', ['Paid'], 'portal.events[0] must be an event class, or an object { name,'],
    ['nothing', [Paid, undefined], 'portal.events[1] must be an event class'],
    ['a class without an event', [class Order {}], 'portal.events[0] must be an event class'],
    ['no name', [{}], 'portal.events[0].name must be a non-empty string'],
    ['an empty name', [{ name: '' }], 'portal.events[0].name must be a non-empty string'],
    ['an unknown field', [{ name: 'Paid', title: 'x' }], 'portal.events[0].title is not a known option'],
    [
      'a description that is no text',
      [{ name: 'Paid', description: 1 }],
      'portal.events[0].description must be a string',
    ],
    ['a schema that is a text', [{ name: 'Paid', schema: '{}' }], 'portal.events[0].schema must be a JSON Schema'],
    ['a schema in a circle', [{ name: 'Paid', schema: circle }], 'portal.events[0].schema must be a JSON Schema'],
    ['an example that is a list', [{ name: 'Paid', example: [] }], 'portal.events[0].example must be an object'],
    ['an example with a BigInt', [{ name: 'Paid', example: { a: 1n } }], 'portal.events[0].example must be an object'],
    [
      'an example too large for a message',
      [{ name: 'Paid', example: { text: 'x'.repeat(32_768) } }],
      'portal.events[0].example must make a valid message: a message must not exceed 32768 bytes',
    ],
    ['a name twice', [{ name: 'Paid' }, Paid], 'portal.events[1].name must not be that of another event'],
  ])('refuses %s', async (_what, events, fault) => {
    const error = await boot(events);
    expect(error?.message).toContain(fault);
    expect(error?.field).toBe(fault.split(' ')[0]);
  });

  it.each<[string, unknown]>([
    ['nothing, which selects the tracking plan', undefined],
    ['an empty array', []],
    ['classes and objects', [Paid, { name: 'Bare' }, { name: 'Full', description: '', schema: {}, example: {} }]],
  ])('accepts %s', async (_what, events) => {
    expect(await boot(events)).toBeUndefined();
  });
});
