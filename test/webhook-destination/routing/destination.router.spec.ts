import { describe, expect, it } from 'vitest';

import type { Message } from '../../../lib/client/message/message.interface.js';
import { AcceptedMessage } from '../../../lib/webhook-destination/ingest/accepted-message.js';
import { ParsedMessage } from '../../../lib/webhook-destination/ingest/parsed-message.js';
import { DestinationRouter } from '../../../lib/webhook-destination/routing/destination.router.js';
import { RoutingOptions } from '../../../lib/webhook-destination/routing/routing.options.js';

const destination = (fields: Partial<RoutingOptions>): RoutingOptions => Object.assign(new RoutingOptions(), fields);

const track: Message = {
  type: 'track',
  messageId: 'm1',
  timestamp: '2026-01-02T03:04:05.678Z',
  userId: 'u1',
  event: 'Ordered',
};

const incoming = (message: Message) => new AcceptedMessage(new ParsedMessage(message), 1);

function takers(destinations: Partial<RoutingOptions>[], message: Partial<Message> = {}, source = 'shop'): string[] {
  const router = new DestinationRouter(destinations.map(destination));
  return [...router.route(source, [incoming({ ...track, ...message })], 1)].map(({ destination: name }) => name);
}

describe('Routing', () => {
  it('makes a delivery for each destination, all of the same bytes', () => {
    const router = new DestinationRouter([destination({ name: 'A' }), destination({ name: 'B' })]);
    const body = Buffer.from(
      '{"version":1,"type":"track","userId":"u1","event":"Ordered","timestamp":"2026-01-02T03:04:05.678Z"}',
    );
    const common = { source: 'shop', messageId: 'm1', userId: 'u1', body, acceptedAt: 7 };
    expect([...router.route('shop', [incoming(track)], 7)]).toEqual([
      { destination: 'A', ...common },
      { destination: 'B', ...common },
    ]);
  });

  it('makes the deliveries of 64 messages at most destination by destination', () => {
    const router = new DestinationRouter([destination({ name: 'A' }), destination({ name: 'B' })]);
    const messages = Array.from({ length: 65 }, (_, index) => incoming({ ...track, messageId: `m${index}` }));
    const routed = Array.from(router.route('shop', messages, 7), ({ destination: name }) => name);
    expect(routed.join('')).toBe(`${'A'.repeat(64)}${'B'.repeat(64)}AB`);
  });

  it('takes a message to the enabled destinations of its source', () => {
    const destinations = [
      { name: 'Every' },
      { name: 'Shop', sources: ['shop', 'app'] },
      { name: 'Other', sources: ['app'] },
      { name: 'Off', enabled: false },
    ];
    expect(takers(destinations)).toEqual(['Every', 'Shop']);
    expect(takers(destinations, {}, 'app')).toEqual(['Every', 'Shop', 'Other']);
  });

  it('takes it to those that want its type', () => {
    const destinations = [{ name: 'Some', types: ['track' as const, 'alias' as const] }, { name: 'All types' }];
    expect(takers(destinations)).toEqual(['Some', 'All types']);
    expect(takers(destinations, { type: 'page' })).toEqual(['All types']);
    expect(takers([{ types: ['delete'] }])).toEqual([]);
  });

  it.each([
    [undefined, true],
    [{}, true],
    [{ All: true }, true],
    [{ All: false }, false],
    [{ Webhooks: false }, false],
    [{ Webhooks: true }, true],
    [{ All: false, Webhooks: true }, true],
    [{ All: true, Webhooks: false }, false],
    [{ All: false, Webhooks: { option: 1 } }, true],
    [{ All: false, Webhooks: null }, false],
    [{ All: null, Webhooks: null }, true],
    // Names are case sensitive, and so is `All`.
    [{ webhooks: false }, true],
    [{ WEBHOOKS: false }, true],
    [{ all: false }, true],
    [{ All: false, webhooks: true }, false],
    [{ Other: false }, true],
    [{ All: false, Other: true }, false],
    // What the object inherits is not in it.
    [JSON.parse('{"__proto__":{"All":false}}') as object, true],
  ])('with integrations %j: %j', (integrations, expected) => {
    expect(takers([{}], { integrations: integrations as Message['integrations'] }).length === 1).toBe(expected);
  });

  it('tells by integrations for each destination alone', () => {
    const destinations = [{ name: 'A' }, { name: 'B' }, { name: 'toString' }];
    expect(takers(destinations, { integrations: { All: false, B: true } })).toEqual(['B']);
    expect(takers(destinations, { integrations: { A: false } })).toEqual(['B', 'toString']);
  });

  it('looks for `integration` in place of the name, which several destinations may share', () => {
    const destinations = [
      { name: 'customer-1', integration: 'Webhooks' },
      { name: 'customer-2', integration: 'Webhooks', types: ['page' as const] },
      { name: 'Webhooks 2' },
    ];
    expect(takers(destinations, { integrations: { Webhooks: false } })).toEqual(['Webhooks 2']);
    expect(takers(destinations, { integrations: { All: false, Webhooks: true } })).toEqual(['customer-1']);
    // The name does not count beside it.
    expect(takers(destinations, { integrations: { 'customer-1': false } })).toEqual(['customer-1', 'Webhooks 2']);
    expect(takers(destinations, { integrations: { All: false, 'customer-1': true } })).toEqual([]);
  });

  it('takes track messages by the name of their event, and others whatever that is', () => {
    const destinations = [
      { name: 'Orders', events: ['Order *', '!Order Viewed'] },
      { name: 'Rest', events: ['!Order *'] },
      { name: 'Every' },
    ];
    expect(takers(destinations, { event: 'Order Completed' })).toEqual(['Orders', 'Every']);
    expect(takers(destinations, { event: 'Order Viewed' })).toEqual(['Every']);
    expect(takers(destinations, { event: 'Cart Viewed' })).toEqual(['Rest', 'Every']);
    expect(takers(destinations, { type: 'page', event: 'Cart Viewed' })).toEqual(['Orders', 'Rest', 'Every']);
    expect(takers([{ events: ['Order *'], types: ['page'] }], { event: 'Order Completed' })).toEqual([]);
  });

  it('goes by the destinations as they are now', () => {
    const router = new DestinationRouter([
      destination({ name: 'Every' }),
      destination({ name: 'A', sources: ['shop'] }),
    ]);
    const takersNow = (source = 'shop') =>
      [...router.route(source, [incoming(track)], 1)].map(({ destination: name }) => name);
    expect([takersNow(), takersNow('app')]).toEqual([['Every', 'A'], ['Every']]);
    router.put(destination({ name: 'A', sources: ['app'] }));
    expect([takersNow(), takersNow('app')]).toEqual([['Every'], ['Every', 'A']]);
    router.put(destination({ name: 'A', sources: ['app'], events: ['Cart *'] }));
    router.put(destination({ name: 'B', sources: ['app', 'shop'] }));
    expect([takersNow(), takersNow('app')]).toEqual([
      ['Every', 'B'],
      ['Every', 'B'],
    ]);
    router.put(destination({ name: 'Every', enabled: false }));
    expect(takersNow()).toEqual(['B']);
    router.remove('B');
    router.remove('Unknown');
    expect([takersNow(), takersNow('app')]).toEqual([[], []]);
    router.put(destination({ name: 'Every' }));
    expect(takersNow('app')).toEqual(['Every']);
  });

  it('takes a source that is named twice for one', () => {
    const router = new DestinationRouter([destination({ name: 'A', sources: ['shop', 'shop'] })]);
    const routed = () => [...router.route('shop', [incoming(track)], 1)].map(({ destination: name }) => name);
    expect(routed()).toEqual(['A']);
    router.remove('A');
    expect(routed()).toEqual([]);
  });

  it('takes a delete notification to each enabled destination of the source, whatever its types and events', () => {
    const router = new DestinationRouter(
      [
        { name: 'A', types: ['track' as const], events: ['Order *'] },
        { name: 'B', sources: ['app'] },
        { name: 'C', enabled: false },
      ].map(destination),
    );
    const [notification, ...others] = router.routeDeletion(['shop', 'web'], true, 'u1', 'delete-1.0', 1_000, 1_000);
    expect(others).toEqual([]);
    expect(notification).toMatchObject({ destination: 'A', source: 'shop', userId: 'u1', acceptedAt: 1_000 });
    expect(notification!.body.toString()).toBe(
      '{"type":"delete","userId":"u1","timestamp":"1970-01-01T00:00:01.000Z"}',
    );
  });
});
