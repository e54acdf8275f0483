import { Injectable, Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AnalyticsModule,
  AnalyticsService,
  defineEvent,
  type PlanViolations,
  Track,
  TrackedEvent,
  ValidationError,
} from 'nestjs-analytics-relay';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

import { useCleanUps } from '../../support/clean-ups.js';
import { Awaited, CheckedLater, CouponUsed, GiftCompleted, NewsRead, OrderCompleted, Throwing } from './events.js';

const userId = 'u';
const events = [OrderCompleted, CouponUsed, NewsRead, Awaited, Throwing];

@Injectable()
class Shop {
  @Track('Order Completed', { userId, properties: ({ args }) => ({ orderId: args[0] as string, revenue: 1 }) })
  byName(_orderId: unknown): string {
    return 'done';
  }

  @Track(NewsRead, { userId, properties: ({ args }) => ({ title: args[0] as string }) })
  byClass(_title: unknown): string {
    return 'done';
  }

  @Track(NewsRead, { userId, properties: undefined as never })
  byNothing(): string {
    return 'done';
  }

  @Track(NewsRead, { userId, properties: () => 'text' as never })
  byText(): string {
    return 'done';
  }
}

describe('An event that breaks its class or schema', () => {
  const afterwards = useCleanUps();
  let lines: string[];

  beforeEach(() => {
    lines = [];
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation((line) => void lines.push(String(line)));
    afterwards(() => warn.mockRestore());
  });
  afterEach(() => expect(lines.join()).not.toContain('secret'));

  async function start(violations?: PlanViolations) {
    const app = await Test.createTestingModule({
      imports: [AnalyticsTestingModule.forRoot({ trackingPlan: { events, violations } })],
      providers: [Shop],
    }).compile();
    await app.init();
    afterwards(() => app.close());
    return { analytics: app.get(AnalyticsService), recorder: app.get(AnalyticsRecorder), shop: app.get(Shop), app };
  }

  const broken = [
    [
      'Order Completed',
      { orderId: 1, revenue: -1, payment: 'secret', address: { city: 5 } },
      'orderId (isString), revenue (min), payment (isIn), address.city (isString)',
    ],
    ['Order Completed', {}, 'orderId (isString), revenue (min), revenue (isNumber)'],
    ['Order Completed', undefined, 'orderId (isString), revenue (min), revenue (isNumber)'],
    ['Coupon Used', { lines: [{ secret: 1 }] }, 'code (invalid_type), lines.0 (invalid_type)'],
    ['Coupon Used', { code: 'c', lines: ['a', 'secret'] }, 'lines (too_big)'],
    ['News Read', { title: 'se' }, 'title (min_length)'],
    ['News Read', { title: ['secret'] }, 'title (string)'],
    ['Awaited', { title: 5 }, 'properties (asynchronous schemas are not supported)'],
    ['Throwing', {}, 'properties (a rule threw an error)'],
  ] as const;

  it.each(broken)('is told by its name, properties and rules: %s %j', async (event, properties, rules) => {
    const { analytics, recorder } = await start('throw');
    const call = () => analytics.track({ userId, event, properties });
    expect(call).toThrow(expect.objectContaining({ message: `"${event}" breaks the tracking plan: ${rules}` }));
    expect(call).toThrow(ValidationError);
    expect(recorder.events).toEqual([]);
  });

  it('is recorded by default, and logged with its count, at most once a minute and at the end', async () => {
    const { analytics, recorder, app } = await start();
    for (let i = 0; i < 3; i++) analytics.trackEvent(new OrderCompleted({ orderId: 'o', revenue: -1 }), { userId });
    analytics.track({ userId, event: 'News Read' });
    expect(recorder.events).toHaveLength(4);
    expect(lines).toEqual([
      '"Order Completed" breaks the tracking plan: revenue (min); recorded anyway, 1 so far',
      '"News Read" breaks the tracking plan: title (object); recorded anyway, 1 so far',
    ]);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
    afterwards(() => clock.mockRestore());
    analytics.track({ userId, event: 'News Read' });
    analytics.track({ userId, event: 'News Read' });
    await app.close();
    expect(lines.slice(2)).toEqual([
      '"News Read" breaks the tracking plan: title (object); recorded anyway, 2 so far',
      '"Order Completed" breaks the tracking plan: revenue (min); recorded anyway, 3 so far',
      '"News Read" breaks the tracking plan: title (object); recorded anyway, 3 so far',
    ]);
  });

  it('is dropped, logged, and told to its callback and as an error', async () => {
    const { analytics, recorder } = await start('drop');
    const errors: unknown[] = [];
    analytics.on('error', ({ reason, ctx }) => errors.push([reason, ctx?.event.event]));
    const told = new Promise((resolve) => analytics.track({ userId, event: 'Coupon Used' }, resolve));
    const message = '"Coupon Used" breaks the tracking plan: code (invalid_type), lines (invalid_type)';
    const reason = expect.objectContaining({ message });
    await expect(told).resolves.toEqual(reason);
    await analytics.flush();
    expect(errors).toEqual([[reason, 'Coupon Used']]);
    expect(recorder.events).toEqual([]);
    expect(analytics.pendingCount).toBe(0);
    expect(lines).toEqual([`${message}; dropped, 1 so far`]);
  });

  it('never throws from a decorated method: its decorator logs it', async () => {
    const { shop, recorder } = await start('throw');
    expect(shop.byName(5)).toBe('done');
    expect(shop.byClass('se')).toBe('done');
    expect(shop.byNothing()).toBe('done');
    expect(shop.byText()).toBe('done');
    expect(recorder.events).toEqual([]);
    expect(lines).toEqual([
      'Shop.byName was not recorded: "Order Completed" breaks the tracking plan: orderId (isString)',
      'Shop.byClass was not recorded: "News Read" breaks the tracking plan: title (min_length)',
      'Shop.byNothing was not recorded: "News Read" breaks the tracking plan: title (object)',
      'Shop.byText was not recorded: properties must be an object',
    ]);
  });

  it('is judged by the class of its properties, whether the class is planned or not', async () => {
    const { analytics, recorder } = await start('throw');
    const Unplanned = defineEvent('Unplanned', z.object({ code: z.string() }));
    expect(() => analytics.trackEvent(new Unplanned({ code: 5 as never }), { userId })).toThrow('code (invalid_type)');
    expect(() =>
      analytics.track({ userId, event: 'Unplanned', properties: new Unplanned({ code: 5 as never }) }),
    ).toThrow('"Unplanned" breaks the tracking plan: code (invalid_type)');
    expect(recorder.events).toEqual([]);
  });

  it('is still refused for what is wrong with any message', async () => {
    const { analytics } = await start('drop');
    expect(() => analytics.track({ userId, event: '' })).toThrow(/event must be/);
    expect(() => analytics.track(undefined as never)).toThrow('message must be an object');
    expect(() => analytics.track({ userId, event: 'Coupon Used', properties: 5 as never })).toThrow(
      'properties must be an object',
    );
  });
});

describe('An event that follows its class or schema', () => {
  const afterwards = useCleanUps();

  async function start() {
    const app = await Test.createTestingModule({
      imports: [AnalyticsTestingModule.forRoot({ trackingPlan: { events, violations: 'throw' } })],
      providers: [Shop],
    }).compile();
    await app.init();
    afterwards(() => app.close());
    return { analytics: app.get(AnalyticsService), recorder: app.get(AnalyticsRecorder), shop: app.get(Shop) };
  }

  it('is recorded with its fields as properties, as they were passed', async () => {
    const { analytics, recorder } = await start();
    const order = new OrderCompleted({ orderId: 'o', revenue: 1 });
    analytics.trackEvent(Object.assign(order, { address: { city: 'Bern' } }), { userId, messageId: 'm1' });
    analytics.trackEvent(new NewsRead({ title: 'News', more: true } as { title: string }), { anonymousId: 'a' });
    analytics.track({ userId, event: 'Coupon Used', properties: { code: 'c', lines: [], extra: 1 } });
    expect(
      recorder.events.map(({ event, properties, userId, anonymousId }) => [event, properties, userId ?? anonymousId]),
    ).toEqual([
      ['Order Completed', { orderId: 'o', revenue: 1, address: { city: 'Bern' } }, 'u'],
      ['News Read', { title: 'News', more: true }, 'a'],
      ['Coupon Used', { code: 'c', lines: [], extra: 1 }, 'u'],
    ]);
    expect(recorder.events[0]!.messageId).toBe('m1');
    expect(order.address).toEqual({ city: 'Bern' });
  });

  it('is recorded by a decorated method, by name and by class', async () => {
    const { shop, recorder } = await start();
    shop.byName('o');
    shop.byClass('News');
    expect(recorder.events.map(({ event, properties }) => [event, properties])).toEqual([
      ['Order Completed', { orderId: 'o', revenue: 1 }],
      ['News Read', { title: 'News' }],
    ]);
  });

  it('takes the name of the class that its class extends, and the rules of both', async () => {
    const { analytics, recorder } = await start();
    const gift = new GiftCompleted({ orderId: 'o', revenue: 1 });
    expect(() => analytics.trackEvent(gift, { userId })).toThrow(
      '"Order Completed" breaks the tracking plan: greeting',
    );
    analytics.trackEvent(Object.assign(gift, { greeting: 'Hi' }), { userId });
    expect(recorder.named('Order Completed')).toHaveLength(1);
  });

  it('is not checked by asynchronous rules', async () => {
    const { analytics, recorder } = await start();
    analytics.trackEvent(new CheckedLater(), { userId });
    expect(recorder.named('Checked Later')).toHaveLength(1);
  });

  it('leaves events alone that are not in the plan', async () => {
    const { analytics, recorder } = await start();
    analytics.track({ userId, event: 'Unplanned', properties: { any: 1 } });
    expect(recorder.named('Unplanned')).toHaveLength(1);
  });
});

describe('Declarations', () => {
  it.each([
    ['an unknown policy', { violations: 'ignore' }, 'trackingPlan.violations must be one of throw, drop, warn'],
    ['no list', { events: {} }, 'trackingPlan.events must be an array of event classes'],
    [
      'a class without an event',
      { events: [OrderCompleted, Shop] },
      'trackingPlan.events[1] must be a class with @TrackedEvent, or made by defineEvent',
    ],
    [
      'an event twice',
      { events: [CouponUsed, CouponUsed] },
      'trackingPlan.events[1] must not have the name of another event',
    ],
    ['an unknown option', { strict: true }, 'trackingPlan.strict is not a known option'],
    ['no object', 'throw', 'trackingPlan must be an object'],
  ])('stop the application at %s', async (_what, trackingPlan, fault) => {
    const options = { writeKey: 'k', trackingPlan: trackingPlan as never };
    const app = Test.createTestingModule({ imports: [AnalyticsModule.forRoot(options)] }).compile();
    await expect(app).rejects.toThrow(`AnalyticsModule: ${fault}`);
  });

  it('refuse what is no event', async () => {
    expect(() => TrackedEvent('')).toThrow('@TrackedEvent: name must be a non-empty string');
    expect(() => Track(Shop, {})).toThrow('@Track: event must be a name, or a class with @TrackedEvent');
    expect(() => defineEvent('E', {} as never)).toThrow('defineEvent: schema must be a Standard Schema');
    const app = await Test.createTestingModule({ imports: [AnalyticsTestingModule] }).compile();
    for (const event of [new Shop(), { orderId: 'o' }, undefined]) {
      expect(() => app.get(AnalyticsService).trackEvent(event as object, { userId })).toThrow(
        'event must be an instance of a class with @TrackedEvent, or made by defineEvent',
      );
    }
  });
});
