import {
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  type OnModuleInit,
  type Provider,
  Scope,
} from '@nestjs/common';
import { ContextIdFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { AnalyticsModule, AnalyticsService, getAnalyticsToken, Track } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { LogLines } from '../support/relay.js';

class Shop {
  @Track('Ordered', { userId: 'u1' })
  order(): string {
    return 'fine';
  }

  @Track('Campaign', { userId: 'u1', instance: 'marketing' })
  campaign(): void {}
}

class BookShop extends Shop {
  @Track('Read', { userId: 'u1' })
  read(): void {}
}

const SHOP = Symbol('shop');

@Injectable()
class Customer {
  constructor(@Inject(SHOP) readonly shop: Shop) {}
}

describe('A decorated method', () => {
  const afterwards = useCleanUps();

  const recorder = (name?: string, isGlobal = true) =>
    AnalyticsModule.forRoot({ writeKey: 'k', disable: true, name, isGlobal });

  async function start({ imports = [recorder(), recorder('marketing')], ...metadata }: ModuleMetadata) {
    const log = new LogLines();
    const app = await Test.createTestingModule({ imports, ...metadata })
      .setLogger(log)
      .compile();
    await app.init();
    afterwards(() => app.close());
    const recorded = (token: ReturnType<typeof getAnalyticsToken>) => {
      const analytics = app.get(token, { strict: false });
      const names: unknown[] = [];
      analytics.on('track', ({ event }: { event: { event?: string } }) => names.push(event.event));
      return async () => {
        await analytics.flush();
        return names;
      };
    };
    return { app, log, events: recorded(AnalyticsService), recorded };
  }

  it.each<[string, Provider]>([
    ['useFactory', { provide: SHOP, useFactory: () => new Shop() }],
    ['an asynchronous useFactory', { provide: SHOP, useFactory: () => Promise.resolve(new Shop()) }],
    ['useValue', { provide: SHOP, useValue: new Shop() }],
    ['useValue, frozen', { provide: SHOP, useValue: Object.freeze(new Shop()) }],
    ['useClass', { provide: SHOP, useClass: Shop }],
  ])('is recorded, with the instance it names, where its provider is made by %s', async (_case, provider) => {
    const { app, log, events, recorded } = await start({ providers: [provider] });
    const named = recorded(getAnalyticsToken('marketing'));
    expect(app.get<Shop>(SHOP).order()).toBe('fine');
    app.get<Shop>(SHOP).campaign();
    expect([await events(), await named()]).toEqual([['Ordered'], ['Campaign']]);
    expect(log.matching(/^warn/)).toEqual([]);
  });

  it('is recorded where it is inherited by a provider made by a factory', async () => {
    const { app, events } = await start({ providers: [{ provide: SHOP, useFactory: () => new BookShop() }] });
    const shop = app.get<BookShop>(SHOP);
    shop.order();
    shop.read();
    expect(await events()).toEqual(['Ordered', 'Read']);
  });

  it.each([
    ['request', Scope.REQUEST],
    ['consumer', Scope.TRANSIENT],
  ])('is recorded where a factory makes its provider for each %s', async (_case, scope) => {
    const { app, events } = await start({
      providers: [{ provide: SHOP, useFactory: () => new Shop(), scope }, Customer],
    });
    const resolve = () => app.resolve(Customer, ContextIdFactory.create());
    const [first, second] = [await resolve(), await resolve()];
    first.shop.order();
    second.shop.order();
    (await app.resolve<Shop>(SHOP)).order();
    expect(await events()).toEqual(['Ordered', 'Ordered', 'Ordered']);
  });

  it.each([true, false])('is recorded in hooks of the modules that use it, where isGlobal is %s', async (isGlobal) => {
    @Injectable()
    class Opening extends Customer implements OnModuleInit {
      onModuleInit(): void {
        this.shop.order();
      }
    }
    @Module({
      imports: [recorder(undefined, isGlobal)],
      providers: [{ provide: SHOP, useFactory: () => new Shop() }, Opening],
    })
    class ShopModule {}
    const app = await Test.createTestingModule({ imports: [ShopModule] }).compile();
    afterwards(() => app.close());
    const analytics = app.get(AnalyticsService, { strict: false });
    const names: unknown[] = [];
    analytics.on('track', ({ event }) => names.push(event.event));
    await app.init();
    await analytics.flush();
    expect(names).toEqual(['Ordered']);
  });

  it('is recorded only where the module of its provider sees the instance', async () => {
    const [inside, outside] = [Symbol('inside'), Symbol('outside')];
    const shop = (token: symbol) => ({ provide: token, useFactory: () => new Shop() });
    @Module({ imports: [recorder(undefined, false)], providers: [shop(inside)] })
    class ShopModule {}
    const { app, events } = await start({ imports: [ShopModule], providers: [shop(outside)] });
    for (const token of [inside, outside]) app.get<Shop>(token, { strict: false }).order();
    expect(await events()).toEqual(['Ordered']);
  });

  it('is recorded by the application that runs, where several had the object one after the other', async () => {
    const providers = [{ provide: SHOP, useValue: new Shop() }];
    await (await start({ providers })).app.close();
    const { app, events, log } = await start({ providers });
    app.get<Shop>(SHOP).order();
    expect(await events()).toEqual(['Ordered']);
    expect(log.matching(/after the shutdown/)).toEqual([]);
  });

  it('does not keep an application from starting, whatever its other providers are', async () => {
    const refuse = () => {
      throw new Error('it is closed');
    };
    const closed = new Proxy(new Shop(), { set: refuse });
    const { app, log } = await start({
      providers: [null, 'text', 5, () => 'function', Object.create(null), closed].map((useValue: unknown, index) => ({
        provide: `value ${index}`,
        useValue,
      })),
    });
    expect(app.get<Shop>('value 5').order()).toBe('fine');
    expect(log.matching(/^warn/)).toEqual([
      'warn Shop.order is not recorded: it is closed',
      'warn Shop.campaign is not recorded: it is closed',
    ]);
  });
});
