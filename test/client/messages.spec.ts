import { runInNewContext } from 'node:vm';

import {
  Context,
  ValidationError,
  VERSION,
  type Analytics,
  type Callback,
  type Message,
} from 'nestjs-analytics-relay/client';
import { describe, expect, it, vi } from 'vitest';

import { collect, create, event, tracked } from './support/harness.js';

type Record = (analytics: Analytics) => void;

/** The one message that reaches the wire. */
async function sent(record: Record): Promise<Message> {
  const collector = await collect();
  const analytics = create({ host: collector.url });
  record(analytics);
  await analytics.flush();
  expect(collector.messages).toHaveLength(1);
  return collector.messages[0]!;
}

/** The error that a call throws. */
function thrown(record: Record): ValidationError {
  try {
    record(create({ disable: true }));
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error('nothing was thrown');
}

// What TypeScript would refuse, and JavaScript lets through.
const untyped = (message: unknown) => message as never;

describe('messages', () => {
  const common = {
    messageId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
    context: { library: { name: 'nestjs-analytics-relay', version: VERSION } },
    integrations: {},
    _metadata: { nodeVersion: process.version },
  };

  it('take the dates of another context, which are of another class', async () => {
    const mtime = runInNewContext('new Date()') as Date;
    expect(mtime).not.toBeInstanceOf(Date);
    const { timestamp } = await sent((analytics) => analytics.track(event({ timestamp: mtime })));
    expect(timestamp).toBe(mtime.toISOString());
  });

  it.each<[string, Record, object]>([
    ['identify', (a) => a.identify({ userId: 'u' }), { type: 'identify', userId: 'u', traits: {} }],
    [
      'track',
      (a) => a.track({ anonymousId: 'a', event: 'E' }),
      { type: 'track', anonymousId: 'a', event: 'E', properties: {} },
    ],
    ['page', (a) => a.page({ userId: 'u' }), { type: 'page', userId: 'u', properties: {} }],
    [
      'page with name and category',
      (a) => a.page({ userId: 'u', name: 'N', category: 'C', properties: { url: '/' } }),
      { type: 'page', userId: 'u', name: 'N', category: 'C', properties: { url: '/', category: 'C' } },
    ],
    [
      'an empty messageId counts as none:',
      (a) => a.page({ userId: 'u', messageId: '' }),
      { type: 'page', userId: 'u', properties: {} },
    ],
    [
      'screen',
      (a) => a.screen({ userId: 'u', name: 'N', category: 'C' }),
      { type: 'screen', userId: 'u', name: 'N', category: 'C', properties: {} },
    ],
    [
      'group',
      (a) => a.group({ userId: 'u', groupId: 'g', traits: { size: 3 } }),
      { type: 'group', userId: 'u', groupId: 'g', traits: { size: 3 } },
    ],
    [
      'alias',
      (a) => a.alias({ userId: 'new', previousId: 'old' }),
      { type: 'alias', userId: 'new', previousId: 'old' },
    ],
  ])('%s has its fields, and an id, a time and the library', async (_kind, record, fields) => {
    expect(await sent(record)).toEqual({ ...common, ...fields });
  });

  it('keeps what the caller gave: both ids, messageId, context, integrations', async () => {
    const given = {
      userId: 'u',
      anonymousId: 'a',
      messageId: 'mine',
      context: { ip: '10.0.0.1', page: { url: '/x' } },
      integrations: { All: false, Webhooks: true, Other: { option: 1 } },
    };
    const message = await sent((a) => a.identify({ ...given, traits: { plan: 'pro' } }));
    expect(message).toMatchObject({ ...given, traits: { plan: 'pro' } });
  });

  it.each([
    ['a Date', new Date('2020-02-03T04:05:06.789Z'), '2020-02-03T04:05:06.789Z'],
    ['an ISO string', '2020-02-03T04:05:06+02:00', '2020-02-03T04:05:06+02:00'],
  ])('keeps a timestamp given as %s', async (_form, timestamp, expected) => {
    expect((await sent((a) => a.track(event({ timestamp })))).timestamp).toBe(expected);
  });

  it('counts null as absent and an empty id as missing', async () => {
    const message = await sent((a) =>
      a.track(untyped({ userId: '', anonymousId: 'a', event: 'E', properties: null, context: null, timestamp: null })),
    );
    expect(message).toMatchObject({ anonymousId: 'a', properties: {}, context: common.context });
    expect(message).not.toHaveProperty('userId');
  });

  it.each<[string, Record, string, string]>([
    ['no message', (a) => a.track(untyped(undefined)), 'message', 'message must be an object'],
    ['neither id', (a) => a.track(untyped({ event: 'E' })), 'userId', 'at least one of userId and anonymousId'],
    ['empty ids', (a) => a.page({ userId: '', anonymousId: '' }), 'userId', 'at least one of userId and anonymousId'],
    ['a numeric userId', (a) => a.track(untyped({ userId: 7, event: 'E' })), 'userId', 'userId must be a string'],
    [
      'a numeric anonymousId',
      (a) => a.page(untyped({ anonymousId: 7 })),
      'anonymousId',
      'anonymousId must be a string',
    ],
    ['no event', (a) => a.track(untyped({ userId: 'u' })), 'event', 'event must be a non-empty string'],
    ['an empty event', (a) => a.track({ userId: 'u', event: '' }), 'event', 'event must be a non-empty string'],
    ['no groupId', (a) => a.group(untyped({ userId: 'u' })), 'groupId', 'groupId must be a non-empty string'],
    ['an alias without userId', (a) => a.alias(untyped({ previousId: 'p' })), 'userId', 'userId must be a non-empty'],
    ['no previousId', (a) => a.alias(untyped({ userId: 'u' })), 'previousId', 'previousId must be a non-empty string'],
    ['a numeric name', (a) => a.page(untyped({ userId: 'u', name: 1 })), 'name', 'name must be a string'],
    ['a numeric category', (a) => a.screen(untyped({ userId: 'u', category: 1 })), 'category', 'category must be'],
    [
      'array properties',
      (a) => a.track(event(untyped({ properties: [] }))),
      'properties',
      'properties must be an object',
    ],
    ['string traits', (a) => a.identify(untyped({ userId: 'u', traits: 'x' })), 'traits', 'traits must be an object'],
    ['a string context', (a) => a.track(event(untyped({ context: 'x' }))), 'context', 'context must be an object'],
    ['string integrations', (a) => a.track(event(untyped({ integrations: 'x' }))), 'integrations', 'integrations must'],
    ['an invalid Date', (a) => a.track(event({ timestamp: new Date(NaN) })), 'timestamp', 'timestamp must be a valid'],
    ['an invalid date string', (a) => a.track(event({ timestamp: 'soon' })), 'timestamp', 'timestamp must be a valid'],
    [
      'a number as timestamp',
      (a) => a.track(event(untyped({ timestamp: 1 }))),
      'timestamp',
      'timestamp must be a valid',
    ],
    [
      'a number as messageId',
      (a) => a.track(event(untyped({ messageId: 1 }))),
      'messageId',
      'messageId must be a string',
    ],
    [
      'a long messageId',
      (a) => a.track(event({ messageId: 'm'.repeat(100) })),
      'messageId',
      'messageId must be shorter',
    ],
  ])('refuses %s in the call, naming field and rule', (_fault, record, field, message) => {
    const error = thrown(record);
    expect(error.field).toBe(field);
    expect(error.message).toContain(message);
  });

  it('neither changes the caller’s objects nor sees their later changes', async () => {
    const message = event({
      properties: { items: [{ sku: 1 }] },
      context: { ip: '10.0.0.1' },
      integrations: { All: true },
    });
    const before = JSON.stringify(message);
    const onWire = await sent((a) => {
      a.track(message);
      expect(JSON.stringify(message)).toBe(before);
      (message.properties!.items as { sku: number }[])[0]!.sku = 2;
      message.context!.ip = 'changed';
      message.integrations!.All = false;
    });
    expect(onWire).toMatchObject(JSON.parse(before) as object);
  });

  it('works on frozen objects', async () => {
    const message = Object.freeze(event({ context: Object.freeze({}), properties: Object.freeze({ a: 1 }) }));
    expect(await sent((a) => a.track(message))).toMatchObject({ properties: { a: 1 } });
  });

  const circular: { name: string; self?: object } = { name: 'a' };
  circular.self = { back: circular };
  const failure = new Error('not loaded');
  const fail = () => {
    throw failure;
  };
  const lazy = Object.defineProperty({}, 'orders', { get: fail, enumerable: true });
  const deep = Array.from({ length: 30 }).reduce<object>((inner) => ({ inner }), { amount: 10n });

  it.each<[string, object, string]>([
    ['that contains itself', circular, 'properties.self.back must not contain itself, or be nested too deeply'],
    ['with a BigInt', { lines: [{}, { amount: 10n }] }, 'properties.lines.1.amount must not be a BigInt'],
    ['with a BigInt far within', deep, 'must not contain itself, or be nested too deeply'],
    ['with a BigInt that toJSON returns', { order: { toJSON: () => ({ id: 1n }) } }, 'properties.order.id must not be'],
    ['whose toJSON throws', { user: { toJSON: fail } }, 'properties.user cannot be read: not loaded'],
    ['which itself has a toJSON that throws', { toJSON: fail }, 'properties cannot be read: not loaded'],
    ['with an accessor that throws', { user: lazy }, 'properties.user.orders cannot be read: not loaded'],
    ['with a lazy relation', { user: { orders: Promise.resolve([]) } }, 'properties.user.orders must not be a promise'],
    [
      'with a query that is not awaited',
      { rows: [{ then: () => undefined }] },
      'properties.rows.0 must not be a promise',
    ],
    ['whose toJSON returns a text', { toJSON: () => 'text' }, 'properties must be an object'],
  ])('refuses an event with data %s, naming its field, and delivers the others', async (_content, properties, rule) => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const errors: unknown[] = [];
    analytics.on('error', (error) => errors.push(error));
    const outcomes = [tracked(analytics), tracked(analytics, event({ properties })), tracked(analytics)];
    await analytics.flush();
    const [first, failed, last] = await Promise.all(outcomes);
    expect(first!.err).toBeUndefined();
    expect(last!.err).toBeUndefined();
    expect(failed!.err).toBeInstanceOf(ValidationError);
    const { message, field } = failed!.err as ValidationError;
    expect(message).toContain(rule);
    expect(message.startsWith(`${field} `)).toBe(true);
    expect(failed!.ctx.event.type).toBe('track');
    expect(errors).toEqual([{ code: 'delivery_failure', reason: failed!.err, ctx: failed!.ctx }]);
    expect(collector.messages).toHaveLength(2);
  });

  it.each<[string, (analytics: Analytics, object: object, callback: Callback) => void, string]>([
    ['context', (a, context, callback) => a.track(event({ context }), callback), 'context.orders'],
    ['properties', (a, properties, callback) => a.track(event({ properties }), callback), 'properties.orders'],
    ['traits', (a, traits, callback) => a.identify({ userId: 'u', traits }, callback), 'traits.orders'],
    [
      'properties of a page',
      (a, properties, callback) => a.page({ userId: 'u', category: 'c', properties }, callback),
      'properties.orders',
    ],
  ])('an accessor that throws in %s fails the event, never the call', async (_field, record, field) => {
    const analytics = create({ disable: true });
    const callback = vi.fn<Callback>();
    record(analytics, lazy, callback);
    await analytics.closeAndFlush();
    expect(callback.mock.calls).toEqual([[expect.any(ValidationError), expect.any(Context)]]);
    expect(callback.mock.calls[0]![0]).toMatchObject({ code: 'message_unreadable', field, cause: failure });
    expect(() => record(analytics, lazy, callback)).not.toThrow();
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it.each<[string, object, string]>([
    ['an accessor', Object.defineProperty({ event: 'Ordered' }, 'userId', { get: fail, enumerable: true }), 'userId'],
    [
      'an accessor of its class',
      Object.create(Object.defineProperty({}, 'userId', { get: fail })) as object,
      'message',
    ],
  ])('a message with %s that throws is refused by the call, which names the field', (_what, message, field) => {
    const error = thrown((a) => a.track(untyped(message)));
    const text = `${field} cannot be read: not loaded`;
    expect(error).toMatchObject({ code: 'message_unreadable', field, message: text, cause: failure });
  });

  /** Hides a field and its internals in JSON, as documents of mongoose do. */
  class User {
    readonly $__ = { cache: 'internal' };
    readonly passwordHash = 'secret';
    constructor(readonly name: string) {}
    toJSON() {
      return { name: this.name };
    }
  }
  const user = new User('Ada');

  it.each<[string, Record, object]>([
    ['context', (a) => a.track(event({ context: user })), { context: { name: 'Ada' } }],
    ['properties', (a) => a.track(event({ properties: user })), { properties: { name: 'Ada' } }],
    [
      'properties of a page with a category',
      (a) => a.page({ userId: 'u', category: 'c', properties: user }),
      { properties: { name: 'Ada', category: 'c' } },
    ],
    ['traits', (a) => a.identify({ userId: 'u', traits: user }), { traits: { name: 'Ada' } }],
    ['integrations', (a) => a.track(event({ integrations: untyped(user) })), { integrations: { name: 'Ada' } }],
    ['a field within', (a) => a.track(event({ properties: { user } })), { properties: { user: { name: 'Ada' } } }],
    [
      'the message',
      (a) =>
        a.track(untyped({ userId: 'u', event: 'E', properties: { a: 1 }, toJSON: () => event({ context: user }) })),
      { event: 'Ordered', properties: {}, context: { name: 'Ada' } },
    ],
  ])('%s with a toJSON is sent as it returns, without the fields that it hides', async (_what, record, expected) => {
    const message = await sent(record);
    expect(message).toMatchObject(expected);
    expect(JSON.stringify(message)).not.toMatch(/secret|internal/);
  });

  it('class instances, Dates, Maps and empty objects are sent as JSON writes them', async () => {
    class Order {
      readonly total = 3;
      get doubled() {
        return this.total * 2;
      }
    }
    const properties = { order: new Order(), at: new Date(0), map: new Map([['a', 1]]), empty: {}, none: [{}] };
    const message = await sent((a) => a.track(event({ properties })));
    expect(message.properties).toEqual(JSON.parse(JSON.stringify(properties)));
  });
});
