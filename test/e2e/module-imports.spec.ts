import { Inject, Injectable, Module, type ModuleMetadata, type OnModuleInit } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AnalyticsModule,
  AnalyticsService,
  type DestinationRegistry,
  memoryQueue,
  WebhookDestinationModule,
  type WebhookDestinationModuleOptions,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { LogLines } from '../support/relay.js';

@Injectable()
class Customers {
  constructor(readonly relay: WebhookDestinationService) {}
}

const afterwards = useCleanUps();

async function start(imports: NonNullable<ModuleMetadata['imports']>, log = new LogLines()) {
  const testing = await Test.createTestingModule({ imports }).setLogger(log).compile();
  const app = await testing.createNestApplication().init();
  afterwards(() => app.close());
  return app;
}

const optionsOf = (source = 'shop'): WebhookDestinationModuleOptions => ({
  sources: [{ name: source, writeKey: `wk_${source}` }],
  destinations: [],
  queue: memoryQueue(),
});

describe('WebhookDestinationService', () => {
  @Module({ providers: [Customers] })
  class CustomersModule {}

  it.each([
    ['forRoot', () => WebhookDestinationModule.forRoot(optionsOf())],
    ['forRootAsync', () => WebhookDestinationModule.forRootAsync({ useFactory: () => optionsOf() })],
    ['isGlobal: true', () => WebhookDestinationModule.forRoot({ ...optionsOf(), isGlobal: true })],
  ])('is injected by a module without imports, with %s', async (_case, createRoot) => {
    const app = await start([CustomersModule, createRoot()]);
    const { relay } = app.get(Customers);
    expect((await relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Ordered' }])).accepted).toBe(1);
  });

  it('is injected by a module that imports, and exports, the class', async () => {
    @Module({ imports: [WebhookDestinationModule], providers: [Customers], exports: [WebhookDestinationModule] })
    class ImportingModule {}
    const app = await start([ImportingModule, WebhookDestinationModule.forRoot(optionsOf())]);
    expect(app.get(Customers).relay).toBe(app.get(WebhookDestinationService));
  });

  it.each([
    ['forRoot', () => WebhookDestinationModule.forRoot({ ...optionsOf(), isGlobal: false })],
    ['forRootAsync', () => WebhookDestinationModule.forRootAsync({ useFactory: () => optionsOf(), isGlobal: false })],
  ])('is injected only by modules that import the module, with isGlobal: false: %s', async (_case, createRoot) => {
    await expect(start([createRoot(), CustomersModule])).rejects.toThrow(
      /dependencies of the Customers.*WebhookDestinationService/s,
    );
    @Module({ imports: [createRoot()], exports: [WebhookDestinationModule] })
    class RelayModule {}
    @Module({ imports: [RelayModule], providers: [Customers] })
    class ImportingModule {}
    const app = await start([ImportingModule]);
    expect(app.get(Customers).relay).toBe(app.get(WebhookDestinationService, { strict: false }));
  });

  it.each([
    [false, []],
    [
      undefined,
      [
        'warn More than one WebhookDestinationModule is global, so a module may inject the WebhookDestinationService of ' +
          'the wrong one. Set isGlobal: false in each, and import each where its service is injected',
      ],
    ],
  ])('is that of the module imported there, if there are several, with isGlobal: %s', async (isGlobal, warnings) => {
    const relays = ['shop', 'app'].map((name) => {
      const relay = WebhookDestinationModule.forRoot({ ...optionsOf(name), ingest: { prefix: name }, isGlobal });
      @Module({ imports: [relay], providers: [Customers] })
      class ImportingModule {}
      return { name, ImportingModule };
    });
    const log = new LogLines();
    const app = await start(
      relays.map(({ ImportingModule }) => ImportingModule),
      log,
    );
    for (const { name, ImportingModule } of relays) {
      const { relay } = app.select(ImportingModule).get(Customers, { strict: true });
      expect((await relay.sources.list()).map((source) => source.name)).toEqual([name]);
    }
    expect(log.matching(/isGlobal/)).toEqual(warnings);
  });

  it('is not to be had by a second forRoot with the same routes', async () => {
    const twice = [WebhookDestinationModule.forRoot(optionsOf()), WebhookDestinationModule.forRoot(optionsOf('app'))];
    await expect(start(twice)).rejects.toThrow(
      "WebhookDestinationModule: ingest.prefix must differ from that of every other module of the application; 'v1' is in " +
        'use. For one relay, call forRoot once: every module can inject its service',
    );
  });
});

describe('WebhookDestinationModule without options', () => {
  const rule =
    'must be imported as WebhookDestinationModule.forRoot({ sources, destinations }) or ' +
    'WebhookDestinationModule.forRootAsync(...)';

  it('stops an application that has no other', async () => {
    await expect(start([WebhookDestinationModule])).rejects.toMatchObject({
      code: 'options_invalid',
      message: `WebhookDestinationModule: ${rule}`,
    });
  });

  it('is the reason in the log where Nest cannot inject the service', async () => {
    @Module({ imports: [WebhookDestinationModule], providers: [Customers] })
    class ImportingModule {}
    const log = new LogLines();
    await expect(start([ImportingModule], log)).rejects.toThrow('WebhookDestinationService');
    expect(log.matching(/^error/)).toEqual([`error WebhookDestinationModule ${rule}`]);
  });
});

describe("The application's registry", () => {
  @Injectable()
  class Database implements OnModuleInit, DestinationRegistry {
    sources: { name: string; writeKey: string }[] | undefined;

    async onModuleInit(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      this.sources = [{ name: 'shop', writeKey: 'wk_shop' }];
    }

    load(): ReturnType<DestinationRegistry['load']> {
      return Promise.resolve({ sources: this.sources!, destinations: [] });
    }
  }

  @Module({ providers: [Database] })
  class DatabaseModule {}

  const root = () => WebhookDestinationModule.forRoot({ queue: memoryQueue(), registry: { useExisting: Database } });

  it('is loaded after the onModuleInit of all modules, even if events are recorded before', async () => {
    @Injectable()
    class Starting {
      failure: unknown = 'none yet';

      constructor(@Inject(AnalyticsService) analytics: AnalyticsService) {
        analytics.track({ userId: 'u1', event: 'Starting' }, (error) => (this.failure = error));
      }
    }
    @Module({ providers: [Starting] })
    class StartingModule {}
    const app = await start([root(), AnalyticsModule.forRoot({ writeKey: 'wk_shop' }), StartingModule, DatabaseModule]);
    expect((await app.get(WebhookDestinationService).sources.list()).map(({ name }) => name)).toEqual(['shop']);
    await app.get(AnalyticsService).flush();
    expect(app.get(Starting).failure).toBeUndefined();
  });

  it.each<[string, (relay: WebhookDestinationService) => Promise<unknown>]>([
    ['accepts messages', (relay) => relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Seeded' }])],
    ['lists sources', (relay) => relay.sources.list()],
    ['explains a message', (relay) => relay.explain({ type: 'track', userId: 'u1', event: 'Seeded' })],
  ])('is loaded earlier for a module that %s in its onModuleInit', async (_need, use) => {
    @Injectable()
    class Seeding implements OnModuleInit {
      constructor(private readonly relay: WebhookDestinationService) {}

      async onModuleInit(): Promise<void> {
        await use(this.relay);
      }
    }
    @Module({ imports: [DatabaseModule], providers: [Seeding] })
    class SeedingModule {}
    await expect(start([root(), SeedingModule])).resolves.toBeDefined();
  });
});
