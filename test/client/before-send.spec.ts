import type { Analytics, AnalyticsSettings, BeforeSend, Callback, Context } from 'nestjs-analytics-relay/client';
import { describe, expect, it, vi } from 'vitest';

import { collect, create, event, tracked } from './support/harness.js';

describe('beforeSend', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);

  async function start(settings: Partial<AnalyticsSettings>) {
    const collector = await collect();
    const analytics = create({ host: collector.url, ...settings });
    const reported: unknown[][] = [];
    for (const name of ['cancelled', 'error', 'track'] as const) {
      analytics.on(name, (argument) => reported.push([name, argument]));
    }
    return { collector, analytics, reported };
  }

  it('changes events without changing the objects of the caller', async () => {
    const beforeSend: BeforeSend = (sent) => {
      delete sent.properties!.email;
      sent.context!.region = 'north';
      return sent;
    };
    const { collector, analytics } = await start({ beforeSend });
    const properties = { email: 'ada@shop.example', plan: 'pro' };
    analytics.track(event({ properties }));
    await analytics.flush();
    expect(collector.messages).toMatchObject([{ properties: { plan: 'pro' }, context: { region: 'north' } }]);
    expect(collector.requests[0]!.raw).not.toContain('ada@');
    expect(properties).toEqual({ email: 'ada@shop.example', plan: 'pro' });
  });

  it('may return another object', async () => {
    const { collector, analytics } = await start({ beforeSend: (sent) => ({ ...sent, properties: { only: true } }) });
    analytics.track(event({ properties: { a: 1 } }));
    await analytics.flush();
    expect(collector.messages[0]!.properties).toEqual({ only: true });
  });

  it('gets the event as plugins leave it, and destination plugins get it as it is sent', async () => {
    const seen: unknown[] = [];
    const { collector, analytics } = await start({
      plugins: [
        {
          name: 'plan',
          type: 'enrichment',
          load: () => Promise.resolve(),
          track: (ctx) => (ctx.updateEvent('properties.plan', 'pro'), ctx),
        },
        {
          name: 'other',
          type: 'destination',
          load: () => Promise.resolve(),
          track: (ctx) => (seen.push(ctx.event.properties), ctx),
        },
      ],
      beforeSend: (sent) => ({ ...sent, properties: { was: sent.properties!.plan } }),
    });
    analytics.track(event());
    await analytics.flush();
    expect([collector.messages[0]!.properties, seen]).toEqual([{ was: 'pro' }, [{ was: 'pro' }]]);
  });

  it.each([null, undefined])(
    'cancels an event by %s: its callback gets a reason, no error is reported',
    async (none) => {
      const sample: BeforeSend = (sent) => (sent.event === 'Viewed' ? none : sent);
      const { collector, analytics, reported } = await start({ beforeSend: sample });
      const kept = tracked(analytics);
      const { err, ctx } = await new Promise<{ err: unknown; ctx: Context }>((resolve) => {
        analytics.track(event({ event: 'Viewed' }), (reason, context) => resolve({ err: reason, ctx: context! }));
        void analytics.flush();
      });
      expect(err).toMatchObject({ name: 'ContextCancelation', code: 'event_cancelled' });
      expect((await kept).err).toBeUndefined();
      expect(reported).toEqual([
        ['cancelled', ctx],
        ['track', (await kept).ctx],
      ]);
      expect(collector.messages).toHaveLength(1);
      expect(analytics.pendingCount).toBe(0);
    },
  );

  const failure = new Error('no such field');
  const thrower = () => {
    throw failure;
  };
  it.each<[string, unknown, unknown]>([
    ['throws', thrower, failure],
    ['returns no event', () => true, expect.objectContaining({ code: 'before_send_invalid' })],
    ['is asynchronous', () => Promise.reject(failure), expect.objectContaining({ code: 'before_send_invalid' })],
  ])(
    'refuses the event if it %s: unchanged, it might hold what should not be sent',
    async (_how, beforeSend, reason) => {
      const { collector, analytics, reported } = await start({ beforeSend: beforeSend as BeforeSend });
      const outcome = tracked(analytics);
      await analytics.flush();
      const { err, ctx } = await outcome;
      expect(err).toEqual(reason);
      expect(reported).toEqual([['error', { code: 'delivery_failure', reason: err, ctx }]]);
      expect(collector.requests).toHaveLength(0);
    },
  );

  it('never runs for an event that is refused, and its cancellations are no process warning', async () => {
    const beforeSend = vi.fn<BeforeSend>(() => null);
    const { analytics } = await start({ beforeSend, maxQueueSize: 1 });
    const callback = vi.fn<Callback>();
    const count = (a: Analytics) => a.track(event(), callback);
    count(analytics);
    count(analytics);
    await analytics.flush();
    expect(beforeSend).toHaveBeenCalledTimes(1);
    expect(callback).toHaveBeenCalledTimes(2);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('defaults', () => {
  it('are added to every event, whose own fields take precedence', async () => {
    const collector = await collect();
    const defaults = { properties: { app: 'shop', plan: 'free' }, context: { region: 'north', ip: '0.0.0.0' } };
    const analytics = create({ host: collector.url, defaults });
    defaults.properties.app = 'changed later';
    analytics.track(event({ properties: { plan: 'pro' }, context: { ip: '10.0.0.1' } }));
    analytics.page({ userId: 'u', category: 'c' });
    analytics.identify({ userId: 'u', traits: { plan: 'pro' } });
    await analytics.flush();
    const context = { region: 'north' };
    expect(collector.messages).toMatchObject([
      { properties: { app: 'shop', plan: 'pro' }, context: { ...context, ip: '10.0.0.1' } },
      { properties: { app: 'shop', plan: 'free', category: 'c' }, context: { ...context, ip: '0.0.0.0' } },
      { traits: { plan: 'pro' }, context },
    ]);
    expect(collector.messages[2]).not.toHaveProperty('properties');
  });
});
