import { Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AnalyticsModule,
  type AnalyticsModuleAsyncOptions,
  type AnalyticsModuleExtras,
  type AnalyticsModuleOptions,
  AnalyticsService,
  getAnalyticsToken,
  InjectAnalytics,
  Track,
} from 'nestjs-analytics-relay';
import { AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { LogLines } from '../support/relay.js';

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

  it('hold up no process whose application does not start', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const made = {
      provide: 'made',
      inject: [AnalyticsService],
      useFactory: (analytics: AnalyticsService) => {
        analytics.track({ userId: 'u1', event: 'Made' });
        throw new Error('not made');
      },
    };
    const imports = [AnalyticsModule.forRoot({ writeKey: 'wk_shop' })];
    await expect(Test.createTestingModule({ imports, providers: [made] }).compile()).rejects.toThrow('not made');
    expect(timers()).toBe(before);
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

  describe('of one name', () => {
    const instance = (extras: AnalyticsModuleExtras = {}) =>
      AnalyticsModule.forRoot({ writeKey: 'k', disable: true, ...extras });
    const instanceAsync = (extras: AnalyticsModuleExtras = {}) =>
      AnalyticsModule.forRootAsync({ useFactory: () => ({ writeKey: 'k', disable: true }), ...extras });
    const moduleOf = (imports: ModuleMetadata['imports'], metadata: ModuleMetadata = {}) => {
      @Module({ imports, ...metadata })
      class FeatureModule {}
      return FeatureModule;
    };
    const fault = (names: string) =>
      `must have one instance for each name, but two have ${names}. ` +
      'Call forRoot or forRootAsync once, in the root module, or set another name';

    it.each<[string, string, () => ModuleMetadata['imports']]>([
      ['two feature modules', 'no name', () => [moduleOf([instance()]), moduleOf([instanceAsync()])]],
      ['the root module, twice', 'no name', () => [instance(), instance({ name: 'default' })]],
      ['forRootAsync, twice', 'no name', () => [instanceAsync(), instanceAsync()]],
      [
        'a name',
        'the name "crm"',
        () => [instance(), moduleOf([instance({ name: 'crm' })]), instance({ name: 'crm' })],
      ],
      ['one that is global', 'no name', () => [instance(), moduleOf([instance({ isGlobal: false })])]],
      ['one module, neither global', 'no name', () => [instance({ isGlobal: false }), instance({ isGlobal: false })]],
      [
        'one module that imports what others export',
        'no name',
        () => {
          const exporting = () => moduleOf([instance({ isGlobal: false })], { exports: [AnalyticsModule] });
          return [moduleOf([exporting(), exporting()])];
        },
      ],
      ['a test', 'no name', () => [AnalyticsTestingModule, moduleOf([instance()])]],
    ])('stop the application, and are logged once: %s', async (_case, names, imports) => {
      const log = new LogLines();
      const application = Test.createTestingModule({ imports: imports()! }).setLogger(log);
      await expect(application.compile()).rejects.toThrow(
        expect.objectContaining({ name: 'OptionsError', message: `AnalyticsModule: ${fault(names)}` }),
      );
      expect(log.matching(/^error/)).toEqual([`error AnalyticsModule ${fault(names)}`]);
    });

    it('stop the application where Nest identifies modules by their metadata, too', async () => {
      const imports = [instanceAsync(), instanceAsync()];
      const application = Test.createTestingModule({ imports }, { moduleIdGeneratorAlgorithm: 'deep-hash' });
      await expect(application.setLogger(new LogLines()).compile()).rejects.toThrow(fault('no name'));
    });

    it.each([instance(), instanceAsync()])('are one where modules import the same object', async (shared) => {
      const imports = [shared, moduleOf([shared]), moduleOf([shared])];
      const first = await start({ imports, providers: [Shop] });
      const second = await start({ imports, providers: [Shop] }); // another application of the process
      expect(first.get(Shop).byClass).toBe(first.get(AnalyticsService));
      expect(second.get(AnalyticsService)).not.toBe(first.get(AnalyticsService));
    });

    it('may differ in modules that are separate, when none is global', async () => {
      const { host, events } = await startReceiver();
      const separate = (writeKey: string) =>
        moduleOf([AnalyticsModule.forRoot({ writeKey, host, name: 'marketing', isGlobal: false })], {
          providers: [Marketing],
        });
      const app = await start({ imports: [separate('wk_one'), separate('wk_two')] });
      for (const marketing of app.get(Marketing, { strict: false, each: true })) {
        marketing.campaign();
        await marketing.named.flush();
      }
      expect(events()).toEqual([
        ['wk_one', ['Campaign']],
        ['wk_two', ['Campaign']],
      ]);
    });
  });
});
