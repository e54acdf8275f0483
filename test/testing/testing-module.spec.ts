import { Controller, Get, Global, Injectable, Module } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import {
  AnalyticsModule,
  AnalyticsService,
  type EventContext,
  defineEvent,
  getAnalyticsToken,
  type IdentityResolver,
  InjectAnalytics,
  memoryQueue,
  type AnalyticsPlugin,
  Track,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { useCleanUps } from '../support/clean-ups.js';
import { waitFor } from '../support/wait-for.js';

/** Code as an application has it; nothing in it knows of a test. */
@Injectable()
class Orders {
  constructor(
    private readonly analytics: AnalyticsService,
    @InjectAnalytics('marketing') private readonly marketing: AnalyticsService,
  ) {}

  @Track('Order Completed', { userId: 'u', properties: ({ result }) => ({ orderId: result as string }) })
  complete(): string {
    this.analytics.identify({ userId: 'u', traits: { plan: 'pro' } });
    this.marketing.track({ userId: 'u', event: 'Campaign Won' });
    return 'o1';
  }
}

const stamp: AnalyticsPlugin = {
  name: 'stamp',
  type: 'enrichment',
  isLoaded: () => true,
  load: () => Promise.resolve(),
  track: (ctx: EventContext) => {
    ctx.updateEvent('properties.stamped', true);
    return ctx;
  },
};

const refused = { writeKey: 'wk', host: 'http://127.0.0.1:1', maxRetries: 0 };
const mainAnalytics = AnalyticsModule.forRoot({ ...refused, plugins: [stamp] });

@Module({
  imports: [mainAnalytics, AnalyticsModule.forRoot({ ...refused, name: 'marketing' })],
  providers: [Orders],
})
class AppModule {}

describe('AnalyticsTestingModule', () => {
  const afterwards = useCleanUps();

  async function start(builder: TestingModuleBuilder) {
    const app = await builder.compile();
    await app.init();
    afterwards(() => app.close());
    return app;
  }

  const names = ({ events }: AnalyticsRecorder) => events.map(({ type, event }) => event ?? type);

  it('records within the call, by default and by name, when imported', async () => {
    const app = await start(
      Test.createTestingModule({
        imports: [AnalyticsTestingModule, AnalyticsTestingModule.forRoot({ name: 'marketing' })],
        providers: [Orders],
      }),
    );
    app.get(Orders).complete();
    expect(names(app.get(AnalyticsRecorder))).toEqual(['identify', 'Order Completed']);
    expect(names(AnalyticsRecorder.of(app.get(getAnalyticsToken('marketing'))))).toEqual(['Campaign Won']);
    expect(AnalyticsRecorder.of(app.get(AnalyticsService))).toBe(app.get(AnalyticsRecorder));
  });

  it('takes the place of the instances of a whole application, whose plugins still run', async () => {
    const app = await start(
      AnalyticsTestingModule.override(Test.createTestingModule({ imports: [AppModule] }), 'default', 'marketing'),
    );
    const recorder = AnalyticsRecorder.of(app.get(AnalyticsService));
    app.get(Orders).complete();
    expect(await recorder.waitFor('Order Completed')).toMatchObject({ properties: { orderId: 'o1', stamped: true } });
    expect(names(AnalyticsRecorder.of(app.get(getAnalyticsToken('marketing'))))).toEqual(['Campaign Won']);
  });

  it('takes the place of a module with overrideModule', async () => {
    const app = await start(
      Test.createTestingModule({ imports: [AppModule] })
        .overrideModule(mainAnalytics)
        .useModule(AnalyticsTestingModule),
    );
    app.get(Orders).complete();
    expect(names(app.get(AnalyticsRecorder))).toEqual(['identify', 'Order Completed']);
  });

  it('hands nothing to the relay of the same application', async () => {
    const relay = WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk' }],
      destinations: [{ urls: ['https://receiver.example/'] }],
      queue: memoryQueue(),
    });
    const analytics = AnalyticsModule.forRoot({ writeKey: 'wk' });
    const app = await start(AnalyticsTestingModule.override(Test.createTestingModule({ imports: [analytics, relay] })));
    app.get(AnalyticsService).track({ userId: 'u', event: 'E' });
    await app.get(AnalyticsService).flush();
    expect(AnalyticsRecorder.of(app.get(AnalyticsService)).events).toHaveLength(1);
    expect(await app.get(WebhookDestinationService).deliveries()).toEqual([]);
  });

  it('records who an event of a request is about, and its context', async () => {
    const RouteCalled = defineEvent('Route Called', z.object({ path: z.string() }));
    @Controller()
    class Routes {
      constructor(private readonly analytics: AnalyticsService) {}

      @Get('route')
      call(): void {
        this.analytics.trackEvent(new RouteCalled({ path: '/route' }));
      }
    }
    const identity: IdentityResolver = ({ headers }) => ({ userId: headers?.['x-user'] as string });
    const testing = await Test.createTestingModule({
      imports: [AnalyticsTestingModule.forRoot({ identity })],
      controllers: [Routes],
    }).compile();
    const app = testing.createNestApplication();
    afterwards(() => app.close());
    await app.listen(0, '127.0.0.1');
    await fetch(`${await app.getUrl()}/route`, { headers: { 'X-User': 'u-1', 'User-Agent': 'test' } });
    expect(app.get(AnalyticsRecorder).named('Route Called')).toMatchObject([
      { userId: 'u-1', properties: { path: '/route' }, context: { userAgent: 'test' } },
    ]);
  });

  it('is there only for the modules that import it, where it is not global', async () => {
    @Global()
    @Module({ providers: [Orders], exports: [Orders] })
    class ApartModule {}
    const builder = Test.createTestingModule({
      imports: [AnalyticsTestingModule.forRoot({ isGlobal: false }), ApartModule],
    });
    await expect(builder.compile()).rejects.toThrow(/AnalyticsService.*ApartModule/s);
  });

  it('ends each event as a delivery does: callback, emitter event, flush', async () => {
    const app = await start(Test.createTestingModule({ imports: [AnalyticsTestingModule] }));
    const analytics = app.get(AnalyticsService);
    const ends: unknown[] = [];
    analytics.on('track', (ctx) => ends.push(ctx.event.event));
    analytics.track({ userId: 'u', event: 'E' }, (err, ctx) => ends.push(err, ctx?.event.userId));
    expect(ends).toEqual([]);
    await analytics.flush();
    expect(ends).toEqual([undefined, 'u', 'E']);
  });

  it('refuses what would not be sent', async () => {
    const app = await start(Test.createTestingModule({ imports: [AnalyticsTestingModule] }));
    const analytics = app.get(AnalyticsService);
    expect(() => analytics.track({ userId: 'u', event: '' })).toThrow('event');
    analytics.track({ event: 'of nobody' });
    const large = new Promise((resolve) =>
      analytics.track({ userId: 'u', event: 'E', properties: { text: 'x'.repeat(33_000) } }, resolve),
    );
    expect(((await large) as Error).message).toContain('32 KB');
    await app.close();
    analytics.track({ userId: 'u', event: 'late' });
    expect(app.get(AnalyticsRecorder).events).toEqual([]);
  });

  it('leaves no timer and no socket', async () => {
    const active = () => process.getActiveResourcesInfo().filter((kind) => /Timeout|TCP/.test(kind)).length;
    const before = active();
    const app = await start(Test.createTestingModule({ imports: [AnalyticsTestingModule] }));
    app.get(AnalyticsService).track({ userId: 'u', event: 'E' });
    expect(active()).toBe(before);
    await app.close();
    await waitFor(() => active() <= before);
  });
});

describe('AnalyticsRecorder', () => {
  const afterwards = useCleanUps();

  async function start() {
    const app = await Test.createTestingModule({ imports: [AnalyticsTestingModule] }).compile();
    afterwards(() => app.close());
    return { analytics: app.get(AnalyticsService), recorder: app.get(AnalyticsRecorder) };
  }

  it('tells all events, those of a type, and track events of a name, until it is cleared', async () => {
    const { analytics, recorder } = await start();
    analytics.page({ userId: 'u', name: 'Home' });
    analytics.track({ userId: 'u', event: 'A' });
    analytics.track({ userId: 'u', event: 'B' });
    expect(recorder.events).toHaveLength(3);
    expect(recorder.ofType('page').map(({ name }) => name)).toEqual(['Home']);
    expect(recorder.named('B').map(({ event }) => event)).toEqual(['B']);
    recorder.clear();
    expect(recorder.events).toEqual([]);
  });

  it('waits for an event that is there or comes, and fails for one that does not', async () => {
    const { analytics, recorder } = await start();
    const later = recorder.waitFor('A');
    const byFunction = recorder.waitFor(({ type }) => type === 'alias', { timeout: 2_000 });
    analytics.track({ userId: 'u', event: 'A' });
    analytics.alias({ userId: 'u', previousId: 'p' });
    expect((await later).event).toBe('A');
    expect((await byFunction).previousId).toBe('p');
    expect((await recorder.waitFor('A')).event).toBe('A');
    await expect(recorder.waitFor('C', { timeout: 10 })).rejects.toThrow(
      'Timed out after 10 ms waiting for "C". Recorded: "A", alias u',
    );
    const faulty = recorder.waitFor(({ event }) => event === 'D' && (JSON.parse('no JSON') as boolean));
    analytics.track({ userId: 'u', event: 'D' });
    await expect(faulty).rejects.toThrow(SyntaxError);
  });

  it('is not that of an instance that sends', async () => {
    const app = await Test.createTestingModule({
      imports: [AnalyticsModule.forRoot({ writeKey: 'k', disable: true })],
    }).compile();
    afterwards(() => app.close());
    expect(() => AnalyticsRecorder.of(app.get(AnalyticsService))).toThrow('was not created by AnalyticsTestingModule');
  });
});
