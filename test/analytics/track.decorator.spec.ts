import { inspect } from 'node:util';

import { Controller, Get, Injectable, Logger, SetMetadata, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AnalyticsModule, AnalyticsService, InjectAnalytics, Track } from 'nestjs-analytics-relay';
import { firstValueFrom, of, throwError } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';

const user = { userId: 'u1' };

/** Sets a property of the method, as decorators of some libraries do. */
const SetProperty =
  (key: PropertyKey, value: unknown) => (_target: object, _key: PropertyKey, method: PropertyDescriptor) =>
    void Reflect.set(method.value as object, key, value);

@Injectable()
class Shop {
  @Track('Sync', { ...user, properties: ({ args, result }) => ({ args, result }) })
  sync(a: number, b: number): number {
    return a + b;
  }

  @Track('Promised', { ...user, properties: ({ result }) => ({ result }) })
  promised(): Promise<string> {
    return Promise.resolve('kept');
  }

  @Track('Observed', { ...user, properties: ({ result }) => ({ result }) })
  observed() {
    return of(1, 2, 3);
  }

  @Track('Failed', { ...user, on: 'error', properties: ({ error }) => ({ reason: (error as Error).message }) })
  fail(how: 'throws' | 'rejects' | 'errors') {
    const error = new Error(how);
    if (how === 'throws') throw error;
    return how === 'rejects' ? Promise.reject(error) : throwError(() => error);
  }

  @Track('Succeeded', user)
  failQuietly() {
    throw new Error('no success');
  }

  @Track('Both', { ...user, on: 'both', when: ({ args: [counts] }) => counts as boolean })
  both(_counts: boolean): void {}

  @Track('Mapped badly', {
    ...user,
    properties: () => {
      throw new Error('bad mapper');
    },
  })
  mappedBadly(): string {
    return 'fine';
  }

  @Track('Nobody')
  nobody(): string {
    return 'fine';
  }

  @Track('Elsewhere', { ...user, instance: 'marketing' })
  elsewhere(): void {}

  @SetMetadata('below', 1)
  @Track('Decorated', user)
  @SetMetadata('above', 2)
  @SetProperty('own', 3)
  @SetProperty(Symbol.for('own'), 4)
  decorated(_a: string, _b: string): void {}
}

describe('@Track', () => {
  const afterwards = useCleanUps();

  async function start<T>(provider: Type<T>, ...names: string[]) {
    const instance = (name?: string) => AnalyticsModule.forRoot({ writeKey: 'k', disable: true, name });
    const app = await Test.createTestingModule({
      imports: [instance(), ...names.map(instance)],
      providers: [provider],
    }).compile();
    await app.init();
    afterwards(() => app.close());
    const analytics = app.get(AnalyticsService);
    return { app, target: app.get(provider), analytics, events: recorded(analytics) };
  }

  /** What an instance records, in the order of recording, once all is flushed. */
  function recorded(analytics: AnalyticsService) {
    const events: { event?: string; userId?: string; properties?: unknown }[] = [];
    analytics.on('track', ({ event: { event, userId, properties } }) => events.push({ event, userId, properties }));
    return async () => {
      await analytics.flush();
      return events;
    };
  }

  it('records a call that returned, with what the mappers make of it', async () => {
    const { target, events } = await start(Shop);
    expect(target.sync(1, 2)).toBe(3);
    expect(await events()).toEqual([{ event: 'Sync', userId: 'u1', properties: { args: [1, 2], result: 3 } }]);
  });

  it('records a promise once it is kept, and an Observable once it is complete', async () => {
    const { target, events } = await start(Shop);
    await target.promised();
    await firstValueFrom(target.observed().pipe());
    target.observed().subscribe();
    expect((await events()).map(({ properties }) => properties)).toEqual([
      { result: 'kept' },
      { result: 1 }, // firstValueFrom has enough then
      { result: 3 },
    ]);
  });

  it('records a failed call only where it is told to, and lets the failure through', async () => {
    const { target, events } = await start(Shop);
    expect(() => target.fail('throws')).toThrow('throws');
    await expect(target.fail('rejects')).rejects.toThrow('rejects');
    await expect(firstValueFrom(target.fail('errors') as ReturnType<Shop['observed']>)).rejects.toThrow('errors');
    expect(() => target.failQuietly()).toThrow('no success');
    expect((await events()).map(({ properties }) => properties)).toEqual([
      { reason: 'throws' },
      { reason: 'rejects' },
      { reason: 'errors' },
    ]);
  });

  it('records a call only when it is told to', async () => {
    const { target, events } = await start(Shop);
    target.both(false);
    target.both(true);
    expect(await events()).toHaveLength(1);
  });

  it('logs what keeps it from recording, and never throws it', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    afterwards(() => warn.mockRestore());
    const { target, events } = await start(Shop, 'marketing');
    expect(target.mappedBadly()).toBe('fine');
    expect(target.nobody()).toBe('fine');
    expect(warn.mock.calls.map(([line]) => line as string)).toEqual([
      'Shop.mappedBadly was not recorded: bad mapper',
      'Shop.nobody was not recorded: at least one of userId and anonymousId must be a non-empty string',
    ]);
    expect(await events()).toEqual([]);
  });

  it('keeps name, length, properties and metadata of the method', () => {
    const { decorated } = Shop.prototype;
    expect([decorated.name, decorated.length]).toEqual(['decorated', 2]);
    expect([Reflect.get(decorated, 'own'), Reflect.get(decorated, Symbol.for('own'))]).toEqual([3, 4]);
    expect([Reflect.getMetadata('above', decorated), Reflect.getMetadata('below', decorated)]).toEqual([2, 1]);
  });

  it('does nothing without a module, and under plain new', async () => {
    expect(new Shop().sync(1, 2)).toBe(3);
    const app = await Test.createTestingModule({ providers: [Shop] }).compile();
    expect(app.get(Shop).sync(1, 2)).toBe(3);
  });

  it('shows nowhere in the objects of a class, and records those that are frozen', async () => {
    @Injectable()
    class Frozen {
      constructor() {
        Object.freeze(this);
      }

      @Track('Frozen', user)
      act(): string {
        return 'fine';
      }
    }
    const { target } = await start(Shop);
    expect(inspect(target)).toBe('Shop {}');
    expect(target).toEqual(new Shop());
    const frozen = await start(Frozen);
    expect(frozen.target.act()).toBe('fine');
    expect((await frozen.events()).map(({ event }) => event)).toEqual(['Frozen']);
  });

  it('records inherited methods, and overridden ones where they call the decorated one', async () => {
    @Injectable()
    class Child extends Shop {
      override sync(a: number, b: number): number {
        return super.sync(a, b) * 2;
      }

      override promised(): Promise<string> {
        return Promise.resolve('overridden');
      }
    }
    const { target, events } = await start(Child);
    expect([target.sync(1, 2), await target.promised()]).toEqual([6, 'overridden']);
    target.both(true);
    expect((await events()).map(({ event, properties }) => [event, properties])).toEqual([
      ['Sync', { args: [1, 2], result: 3 }],
      ['Both', {}],
    ]);
  });

  it('records with the instance it names', async () => {
    @Injectable()
    class Holder {
      constructor(@InjectAnalytics('marketing') readonly marketing: AnalyticsService) {}
    }
    const instance = (name?: string) => AnalyticsModule.forRoot({ writeKey: 'k', disable: true, name });
    const app = await Test.createTestingModule({
      imports: [instance(), instance('marketing')],
      providers: [Shop, Holder],
    }).compile();
    await app.init();
    afterwards(() => app.close());
    const byDefault = recorded(app.get(AnalyticsService));
    const named = recorded(app.get(Holder).marketing);
    app.get(Shop).elsewhere();
    app.get(Shop).sync(1, 2);
    expect((await named()).map(({ event }) => event)).toEqual(['Elsewhere']);
    expect((await byDefault()).map(({ event }) => event)).toEqual(['Sync']);
  });

  it('keeps a route where it is, above and below the route decorator', async () => {
    @Controller()
    class Routes {
      @Track('Above', user)
      @Get('above')
      above(): string {
        return 'above';
      }

      @Get('below')
      @Track('Below', user)
      below(): string {
        return 'below';
      }
    }
    const testing = await Test.createTestingModule({
      imports: [AnalyticsModule.forRoot({ writeKey: 'k', disable: true })],
      controllers: [Routes],
    }).compile();
    const app = testing.createNestApplication();
    afterwards(() => app.close());
    await app.listen(0, '127.0.0.1');
    const events = recorded(app.get(AnalyticsService));
    for (const path of ['above', 'below']) {
      expect(await (await fetch(`${await app.getUrl()}/${path}`)).text()).toBe(path);
    }
    expect((await events()).map(({ event }) => event)).toEqual(['Above', 'Below']);
  });
});
