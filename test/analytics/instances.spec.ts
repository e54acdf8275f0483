import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AnalyticsModule,
  type AnalyticsModuleAsyncOptions,
  type AnalyticsModuleOptions,
  AnalyticsService,
  getAnalyticsToken,
  InjectAnalytics,
  Track,
} from 'nestjs-analytics-relay';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';

@Injectable()
class Settings {
  readonly writeKey = 'wk_shop';
}

@Injectable()
class OptionsFactory {
  static host: string;

  create(): AnalyticsModuleOptions {
    return { writeKey: 'wk_shop', host: OptionsFactory.host };
  }
}

@Module({ providers: [Settings, OptionsFactory], exports: [Settings, OptionsFactory] })
class SettingsModule {}

@Injectable()
class Shop {
  constructor(
    readonly byClass: AnalyticsService,
    @InjectAnalytics() readonly byDefault: AnalyticsService,
  ) {}

  @Track('Ordered', { userId: 'u1' })
  order(): void {}
}

@Injectable()
class Marketing {
  @InjectAnalytics('marketing')
  readonly named!: AnalyticsService;

  @Track('Campaign', { userId: 'u1', instance: 'marketing' })
  campaign(): void {}

  @Track('Not Here', { userId: 'u1' })
  elsewhere(): string {
    return 'fine';
  }
}

@Injectable()
class Outside {
  @Track('Outside', { userId: 'u1', instance: 'marketing' })
  campaign(): void {}
}

describe('Instances of AnalyticsModule', () => {
  const afterwards = useCleanUps();

  async function start(metadata: ModuleMetadata) {
    const app = await Test.createTestingModule(metadata).compile();
    await app.init();
    afterwards(() => app.close());
    return app;
  }

  async function startReceiver() {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const host = `http://127.0.0.1:${receiver.port}`;
    return {
      host,
      events: () =>
        receiver.webhooks.map(({ body }) => [
          body.writeKey,
          (body.batch as { event: string }[]).map(({ event }) => event),
        ]),
    };
  }

  it.each<[string, (host: string) => AnalyticsModuleAsyncOptions]>([
    [
      'useFactory, with what it injects',
      (host) => ({
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: async (settings: Settings) => {
          await Promise.resolve();
          return { writeKey: settings.writeKey, host };
        },
      }),
    ],
    ['useClass', () => ({ useClass: OptionsFactory })],
    ['useExisting', () => ({ imports: [SettingsModule], useExisting: OptionsFactory })],
  ])('take their options from %s', async (_case, options) => {
    const { host, events } = await startReceiver();
    OptionsFactory.host = host;
    const app = await start({ imports: [AnalyticsModule.forRootAsync(options(host))], providers: [Shop] });
    app.get(Shop).order();
    await app.get(AnalyticsService).flush();
    expect(events()).toEqual([['wk_shop', ['Ordered']]]);
  });

  it('do not hold up a factory that flushes, whose events are sent after the start', async () => {
    const { host, events } = await startReceiver();
    const made = {
      provide: 'made',
      inject: [AnalyticsService],
      useFactory: async (analytics: AnalyticsService) => {
        analytics.track({ userId: 'u1', event: 'Made' });
        await analytics.flush();
      },
    };
    const app = await start({ imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', host })], providers: [made] });
    await app.get(AnalyticsService).flush();
    expect(events()).toEqual([['wk_shop', ['Made']]]);
  });

  it('stop the application where a factory makes wrong options', async () => {
    const imports = [AnalyticsModule.forRootAsync({ useFactory: () => ({ writeKey: '' }) })];
    const failure = Test.createTestingModule({ imports }).compile();
    await expect(failure).rejects.toThrow('AnalyticsModule: writeKey must be a non-empty string');
  });

  it('are independent, and found by class, decorator and token', async () => {
    const [shop, marketing] = [await startReceiver(), await startReceiver()];
    const app = await start({
      imports: [
        AnalyticsModule.forRoot({ writeKey: 'wk_shop', host: shop.host }),
        AnalyticsModule.forRootAsync({
          name: 'marketing',
          useFactory: () => ({ writeKey: 'wk_marketing', host: marketing.host }),
        }),
      ],
      providers: [Shop, Marketing],
    });
    const { byClass, byDefault } = app.get(Shop);
    const { named } = app.get(Marketing);
    expect(byDefault).toBe(byClass);
    expect(app.get(getAnalyticsToken())).toBe(byClass);
    expect(app.get(getAnalyticsToken('marketing'))).toBe(named);
    expect(named).not.toBe(byClass);
    app.get(Shop).order();
    app.get(Marketing).campaign();
    await Promise.all([byClass.flush(), named.flush()]);
    expect([shop.events(), marketing.events()]).toEqual([[['wk_shop', ['Ordered']]], [['wk_marketing', ['Campaign']]]]);
  });

  it('are seen only where they are imported, when not global', async () => {
    const { host, events } = await startReceiver();
    @Module({
      imports: [AnalyticsModule.forRoot({ writeKey: 'wk_marketing', host, name: 'marketing', isGlobal: false })],
      providers: [Marketing],
    })
    class MarketingModule {}
    const app = await start({ imports: [MarketingModule], providers: [Outside] });
    app.get(Marketing).campaign();
    expect(app.get(Marketing).elsewhere()).toBe('fine');
    app.get(Outside).campaign();
    await app.get<AnalyticsService>(getAnalyticsToken('marketing'), { strict: false }).flush();
    expect(events()).toEqual([['wk_marketing', ['Campaign']]]);
  });
});
