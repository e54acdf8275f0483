import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import {
  AnalyticsModule,
  AnalyticsService,
  getAnalyticsToken,
  InjectAnalytics,
  Track,
  type TrackParams,
} from 'nestjs-analytics-relay';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';

const userId = 'u1';

@Injectable()
class Shop {
  constructor(
    readonly byClass: AnalyticsService,
    @InjectAnalytics() readonly byDefault: AnalyticsService,
  ) {}

  @Track('Decorated', { userId, properties: ({ result }) => ({ orderId: result as string }) })
  order(): string {
    this.byClass.track({ userId, event: 'By Class' });
    this.byDefault.track({ userId, event: 'By Default' });
    return 'o1';
  }
}

/** A part of the application that Nest does not construct. */
class Depot {
  @Track('Shipped', { userId })
  ship(): void {}
}

@Injectable()
class Marketing {
  @Track('Campaign', { userId, instance: 'marketing' })
  campaign(): void {}
}

@Module({
  imports: [
    AnalyticsModule.forRoot({ writeKey: '' }), // Wrong: the application does not start with the real one.
    AnalyticsModule.forRoot({ writeKey: '', name: 'marketing' }),
  ],
  providers: [Shop, { provide: Depot, useFactory: () => new Depot() }, Marketing],
})
class AppModule {}

const track = vi.fn<(message: TrackParams) => void>();

class FakeAnalytics {
  track = track;
}

beforeEach(() => {
  track.mockClear();
});

describe('One override of an instance', () => {
  const afterwards = useCleanUps();
  const all = ['By Class', 'By Default', 'Decorated', 'Shipped'];

  async function start(builder: TestingModuleBuilder): Promise<TestingModule> {
    const app = await builder
      .overrideProvider(getAnalyticsToken('marketing'))
      .useValue({ track: (message: TrackParams) => track({ ...message, event: `marketing: ${message.event}` }) })
      .compile();
    await app.init();
    afterwards(() => app.close());
    return app;
  }

  const application = () => Test.createTestingModule({ imports: [AppModule] });

  it.each<[string, (builder: TestingModuleBuilder) => TestingModuleBuilder]>([
    ['AnalyticsService by a value', (builder) => builder.overrideProvider(AnalyticsService).useValue({ track })],
    ['AnalyticsService by a class', (builder) => builder.overrideProvider(AnalyticsService).useClass(FakeAnalytics)],
    [
      'AnalyticsService by a factory',
      (builder) => builder.overrideProvider(AnalyticsService).useFactory({ factory: () => new FakeAnalytics() }),
    ],
    ['its token by a value', (builder) => builder.overrideProvider(getAnalyticsToken()).useValue({ track })],
  ])('reaches what is injected and the decorators: %s', async (_case, override) => {
    const app = await start(override(application()));
    app.get(Shop).order();
    app.get(Depot).ship();
    expect(track.mock.calls.map(([{ event }]) => event)).toEqual(all);
    expect(track).toHaveBeenCalledWith({ userId, event: 'Decorated', properties: { orderId: 'o1' } });
  });

  it('reaches them as AnalyticsTestingModule.override', async () => {
    const valid = AnalyticsModule.forRoot({ writeKey: 'k', host: 'http://127.0.0.1:1' });
    const builder = Test.createTestingModule({
      imports: [valid],
      providers: [Shop, { provide: Depot, useValue: new Depot() }],
    });
    const app = await start(AnalyticsTestingModule.override(builder));
    app.get(Shop).order();
    app.get(Depot).ship();
    expect(AnalyticsRecorder.of(app.get(AnalyticsService)).events.map(({ event }) => event)).toEqual(all);
    expect(app.get(getAnalyticsToken())).toBe(app.get(AnalyticsService));
  });

  it('reaches one instance of several', async () => {
    const app = await start(application().overrideProvider(AnalyticsService).useValue({ track }));
    app.get(Marketing).campaign();
    expect(track.mock.calls.map(([{ event }]) => event)).toEqual(['marketing: Campaign']);
  });

  it.each([
    ['AnalyticsService', AnalyticsService],
    ['its token', getAnalyticsToken()],
  ])('is needless where a test provides %s itself', async (_case, provide) => {
    const app = await Test.createTestingModule({
      providers: [Shop, { provide, useValue: { track } }],
    }).compile();
    app.get(Shop).order();
    expect(track.mock.calls.map(([{ event }]) => event)).toEqual(['By Class', 'By Default', 'Decorated']);
  });
});
