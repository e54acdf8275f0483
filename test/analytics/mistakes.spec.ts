import { Injectable, Module, type ModuleMetadata, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AnalyticsModule, AnalyticsService, Page, Track, type TrackOptions } from 'nestjs-analytics-relay';
import { AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { LogLines } from '../support/relay.js';
import { startProvider } from './support/recorded.provider.js';

const userId = 'u1';

@Injectable()
class Shop {
  @Track('Ordered', { userId })
  order(): string {
    return 'fine';
  }

  @Track('Campaign', { userId, instance: 'marketng' })
  campaign(): string {
    return 'fine';
  }
}

@Injectable({ scope: Scope.REQUEST })
class BookShop extends Shop {}

describe('A name that no AnalyticsModule has', () => {
  const afterwards = useCleanUps();

  async function start(metadata: ModuleMetadata) {
    const log = new LogLines();
    const app = await Test.createTestingModule(metadata).setLogger(log).compile();
    await app.init();
    afterwards(() => app.close());
    return { app, log };
  }

  const recorder = (name?: string) => AnalyticsModule.forRoot({ writeKey: 'k', disable: true, name });

  it('is warned of once at the start, with the method and the names that there are', async () => {
    const { app, log } = await start({
      imports: [recorder(), recorder('marketing')],
      providers: [Shop, BookShop, { provide: 'made', useFactory: () => new Shop() }],
      controllers: [Shop],
    });
    expect(app.get(Shop).campaign()).toBe('fine');
    expect(log.matching(/^warn/)).toEqual([
      'warn Shop.campaign is not recorded: no AnalyticsModule has the name "marketng" (known names: "default", "marketing")',
    ]);
  });

  it('may be that of the default instance', async () => {
    const { log } = await start({ imports: [recorder('marketng')], providers: [Shop] });
    expect(log.matching(/^warn/)).toEqual([
      'warn Shop.order is not recorded: the application has no default AnalyticsModule. Set instance to one of: "marketng"',
    ]);
  });

  it('belongs to a module that does not import it, and it is not global', async () => {
    const marketing = AnalyticsModule.forRoot({ writeKey: 'k', disable: true, name: 'marketng', isGlobal: false });
    @Module({ imports: [marketing], providers: [Shop] })
    class ShopModule {}
    const made = { provide: 'made', useFactory: () => new Shop() };
    const { log } = await start({
      imports: [recorder(), ShopModule],
      providers: [Shop, made],
      controllers: [BookShop],
    });
    expect(log.matching(/^warn/)).toEqual([
      'warn Shop.campaign is not recorded: its module does not import AnalyticsModule "marketng", which is not global',
    ]);
  });

  it('is no mistake where there is no AnalyticsModule', async () => {
    const { app, log } = await start({ providers: [Shop] });
    expect(app.get(Shop).campaign()).toBe('fine');
    expect(log.matching(/^warn/)).toEqual([]);
  });
});

describe('AnalyticsModule without options', () => {
  const afterwards = useCleanUps();
  const rule = 'must be imported as AnalyticsModule.forRoot({ writeKey }) or AnalyticsModule.forRootAsync(...)';

  @Injectable()
  class Injecting {
    constructor(readonly analytics: AnalyticsService) {}
  }

  it('stops an application that has no other', async () => {
    const application = Test.createTestingModule({ imports: [AnalyticsModule], providers: [Shop] });
    await expect(application.compile()).rejects.toThrow(`AnalyticsModule: ${rule}`);
  });

  it('is the reason in the log where Nest cannot inject AnalyticsService', async () => {
    const log = new LogLines();
    const application = Test.createTestingModule({ imports: [AnalyticsModule], providers: [Injecting] });
    await expect(application.setLogger(log).compile()).rejects.toThrow('AnalyticsService');
    expect(log.matching(/^error/)).toEqual([`error AnalyticsModule ${rule}`]);
  });

  it.each([
    ['AnalyticsModule.forRoot', AnalyticsModule.forRoot({ writeKey: 'k', disable: true })],
    ['AnalyticsTestingModule', AnalyticsTestingModule],
  ])('may be imported by a feature module beside %s', async (_case, root) => {
    @Module({ imports: [AnalyticsModule], providers: [Shop, Injecting], exports: [AnalyticsModule] })
    class FeatureModule {}
    const app = await Test.createTestingModule({ imports: [FeatureModule, root] }).compile();
    await app.init();
    afterwards(() => app.close());
    const { analytics } = app.get(Injecting);
    const recorded: unknown[] = [];
    analytics.on('track', ({ event }) => recorded.push(event.event));
    app.get(Shop).order();
    await analytics.flush();
    expect(recorded).toEqual(['Ordered']);
  });
});

describe('A decorator', () => {
  const decorate = (...args: unknown[]) => (Track('Ordered', { userId }) as (...args: unknown[]) => void)(...args);
  const rule =
    'an analytics decorator needs an instance method, not a property, arrow function, getter, setter or static method';

  it.each<[string, string, unknown[]]>([
    ['a property or arrow function', 'Shop.open', [Shop.prototype, 'open', undefined]],
    ['an arrow function, as Babel compiles it', 'Shop.open', [Shop.prototype, 'open', { initializer: () => () => 1 }]],
    ['a getter', 'Shop.isOpen', [Shop.prototype, 'isOpen', { get: () => true }]],
    ['a setter', 'Shop.isOpen', [Shop.prototype, 'isOpen', { set: () => undefined }]],
    ['a static method', 'Shop.build', [Shop, 'build', { value: () => new Shop() }]],
  ])('refuses %s', (_case, subject, args) => {
    expect(() => decorate(...args)).toThrow(
      expect.objectContaining({ name: 'OptionsError', message: `${subject}: ${rule}` }),
    );
  });

  it('refuses an unknown value of on', () => {
    const decorator = Track('Ordered', { userId, on: 'succes' as never });
    const decorate = () => decorator(Shop.prototype, 'order', { value: () => undefined });
    const message = "Shop.order: on must be 'success', 'error' or 'both'";
    expect(decorate).toThrow(expect.objectContaining({ name: 'OptionsError', message }));
  });
});

describe('A field of a decorator', () => {
  const decorate = (options: object) => {
    const decorator = Track('Ordered', options as TrackOptions) as (...args: unknown[]) => void;
    return () => decorator(Shop.prototype, 'order', { value: () => undefined });
  };

  it.each<[string, () => object]>([
    ['userId must be a string or a number', () => ({ userId: {} })],
    [
      'properties.total must not be a promise; mappers are synchronous, so await the value in the method',
      () => ({ userId, properties: { total: Promise.reject(new Error('nobody handles this')) } }),
    ],
  ])('is refused at once where its value is wrong: %s', (fault, createOptions) => {
    expect(decorate(createOptions())).toThrow(
      expect.objectContaining({ name: 'OptionsError', message: `Shop.order: ${fault}` }),
    );
  });
});

describe('A mapper', () => {
  const afterwards = useCleanUps();
  const afterAdvice = 'must not be a promise; mappers are synchronous, so await the value in the method';

  /** Options that the types refuse. */
  const loose = (options: object) => options as TrackOptions;
  // Vitest fails a run that leaves a rejection unhandled.
  const rejects = () => Promise.reject(new Error('nobody handles this'));

  const deep = (depth: number): Record<string, unknown> => ({ in: depth > 1 ? deep(depth - 1) : rejects() });

  const runQuery = vi.fn();

  @Injectable()
  class Orders {
    @Track('Properties', { userId, ...loose({ properties: rejects }) })
    properties(): void {}

    @Track('Property', { userId, properties: () => ({ items: [{ total: rejects() }, { total: rejects() }] }) })
    property(): void {}

    @Track('Id', loose({ userId: rejects }))
    id(): void {}

    @Track('When', { userId, ...loose({ when: rejects }) })
    when(): void {}

    @Track('Query', { userId, ...loose({ properties: () => ({ then: runQuery }) }) })
    query(): void {}

    @Track('Map', { userId, properties: () => ({ byId: new Map([['o1', rejects()]]), all: new Set([rejects()]) }) })
    map(): void {}

    @Track('Deep', { userId, properties: () => deep(20) })
    deep(): void {}

    @Page((() => rejects()) as unknown as () => string, { userId })
    page(): void {}

    @Track('Number', { userId: ({ args: [id] }) => id as number, groupId: () => 5n, anonymousId: () => null })
    number(_id: number): void {}

    @Track('Wrong', loose({ userId: () => ({}) }))
    wrong(): void {}
  }

  it('that gives a promise is logged, with the method and the field, and nothing is recorded or rejects', async () => {
    const { target, log, events } = await startProvider(afterwards, Orders);
    const fields = {
      properties: 'properties',
      property: 'properties.items.0.total',
      id: 'userId',
      when: 'when',
      query: 'properties',
      map: 'properties.byId.0',
      deep: `properties${'.in'.repeat(20)}`,
      page: 'name',
    } as const;
    for (const method of Object.keys(fields) as (keyof typeof fields)[]) target[method]();
    expect(await events()).toEqual([]);
    expect(log.matching(/^warn/)).toEqual(
      Object.entries(fields).map(
        ([method, field]) => `warn Orders.${method} was not recorded: ${field} ${afterAdvice}`,
      ),
    );
    expect(runQuery).not.toHaveBeenCalled();
  });

  it('that throws a value without a text is logged, as is a request that fails with one', async () => {
    const fail = (): never => {
      throw Object.create(null);
    };
    @Injectable()
    class Failing {
      @Track('Mapped', { userId, properties: fail })
      map(): void {}
    }
    const options = { disable: false, maxRetries: 0, httpClient: () => Promise.resolve().then(fail) };
    const { target, log, analytics } = await startProvider(afterwards, Failing, { options });
    target.map();
    analytics.track({ userId, event: 'Sent' });
    await analytics.flush();
    expect(log.matching(/^(warn|error)/)).toEqual([
      'warn Failing.map was not recorded: unknown error',
      'error Events not delivered to http://localhost:3000: 1 (unknown error)',
    ]);
  });

  it('may give data with a promise that its toJSON leaves out, and that rejects', async () => {
    @Injectable()
    class Shown {
      @Track('Shown', { userId, properties: () => ({ item: { lazy: rejects(), toJSON: () => 'shown' } }) })
      show(): void {}
    }
    const { target, events } = await startProvider(afterwards, Shown);
    target.show();
    expect(await events()).toMatchObject([{ event: 'Shown', properties: { item: 'shown' } }]);
  });

  it('that gives data with objects that point back at each other is no slower for it', async () => {
    let reads = 0;
    const items = Array.from({ length: 1_000 }, () => ({}));
    const order = {
      items,
      get total() {
        return ++reads;
      },
    };
    for (const item of items) Object.assign(item, { order });
    @Injectable()
    class Cyclic {
      @Track('Cyclic', { userId, properties: () => order })
      record(): void {}
    }
    const { target, analytics } = await startProvider(afterwards, Cyclic);
    const errors: unknown[] = [];
    analytics.on('error', ({ reason }) => errors.push(reason));
    target.record();
    await analytics.flush();
    expect(reads).toBeLessThan(10);
    expect(errors).toEqual([expect.objectContaining({ name: 'ValidationError', field: 'properties.items.0.order' })]);
  });

  it('may tell an id as a number', async () => {
    const { target, events } = await startProvider(afterwards, Orders);
    target.number(17);
    expect(await events()).toMatchObject([{ event: 'Number', userId: '17', context: { groupId: '5' } }]);
  });

  it('that gives another value for an id is logged', async () => {
    const { target, events, log } = await startProvider(afterwards, Orders);
    target.wrong();
    expect(await events()).toEqual([]);
    expect(log.matching(/^warn/)).toEqual(['warn Orders.wrong was not recorded: userId must be a string or a number']);
  });
});
