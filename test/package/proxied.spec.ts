import { Controller, type INestApplication, Injectable, Module, Post, UseGuards } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import {
  AnalyticsContextInterceptor,
  AnalyticsModule,
  AnalyticsService,
  defineEvent,
  memoryQueue,
  signBody,
  Track,
  ValidationError,
  WEBHOOK_SECRET,
  WebhookDestinationModule,
  WebhookDestinationService,
  WebhookSignatureGuard,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { useCleanUps } from '../support/clean-ups.js';
import { listen } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { LogLines } from '../support/relay.js';

const Ordered = defineEvent('Ordered', z.object({ total: z.number() }));

@Controller()
@UseGuards(WebhookSignatureGuard)
class Hooks {
  @Post('hook')
  receive(): void {}
}

@Injectable()
class Shop {
  constructor(readonly analytics: AnalyticsService) {}

  @Track('Decorated', { userId: 'u1' })
  order(): void {}
}

const decorators: [string, (instance: object) => object][] = [
  ['a plain proxy', (instance) => new Proxy(instance, {})],
  [
    'a proxy that calls methods with itself, as tracers do',
    (instance) =>
      new Proxy(instance, {
        get(target, key, receiver) {
          const value: unknown = Reflect.get(target, key);
          if (typeof value !== 'function' || key === 'constructor' || target instanceof Map) return value;
          return (...args: unknown[]) => (value as (...args: unknown[]) => unknown).apply(receiver, args);
        },
      }),
  ],
];

const afterwards = useCleanUps();

async function start(decorate: (instance: object) => object) {
  const receiver = await Receiver.start();
  afterwards(() => receiver.stop());
  @Module({
    imports: [
      AnalyticsModule.forRoot({ writeKey: 'wk', trackingPlan: { events: [Ordered], violations: 'throw' } }),
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk' }],
        destinations: [{ name: 'Hook', urls: [receiver.url] }],
        queue: memoryQueue(),
        delivery: { allowedNetworks: ['localhost'] },
        admin: { token: 'a-token-of-some-length' },
        registry: 'store',
      }),
    ],
    controllers: [Hooks],
    providers: [
      Shop,
      AnalyticsContextInterceptor,
      { provide: WEBHOOK_SECRET, useValue: 'a-shared-secret-of-some-length' },
    ],
  })
  class AppModule {}
  const log = new LogLines();
  const app = await NestFactory.create(AppModule, {
    logger: log,
    abortOnError: false,
    rawBody: true,
    instrument: {
      instanceDecorator: (instance: unknown) =>
        typeof instance === 'object' && instance !== null ? decorate(instance) : instance,
    },
  });
  afterwards(() => app.close());
  return { app, receiver, log, host: await listen(app) };
}

async function useAnalytics(app: INestApplication): Promise<void> {
  const analytics = app.get(AnalyticsService);
  const ids = { userId: 'u1' };
  analytics.identify(ids);
  analytics.trackEvent(new Ordered({ total: 5 }), ids);
  expect(() => analytics.track({ ...ids, event: 'Ordered', properties: { total: 'five' } })).toThrow(ValidationError);
  analytics.page(ids);
  analytics.screen(ids);
  analytics.group({ ...ids, groupId: 'g1' });
  analytics.alias({ ...ids, previousId: 'a1' });
  app.get(Shop).order();
  expect(analytics.VERSION).toMatch(/^\d/);
  await analytics.ready;
  await analytics.register();
  await analytics.deregister('none');
  await analytics.flush();
  expect(analytics.pendingCount).toBe(0);
}

async function useRelay(app: INestApplication): Promise<void> {
  const relay = app.get(WebhookDestinationService);
  const message = { type: 'track', event: 'Accepted', userId: 'u2', messageId: 'm1' };
  expect((await relay.accept('wk', [message])).rejected).toEqual([]);
  expect((await relay.explain(message, 'shop')).destinations).toHaveLength(1);
  expect(Array.isArray(await relay.deliveries())).toBe(true);
  expect((await relay.search()).deliveries).toBeDefined();
  expect(await relay.replay('none')).toBe(0);
  expect(Array.isArray(await relay.stats())).toBe(true);
  await relay.sources.create({ name: 'second', writeKey: 'wk_second' });
  await relay.destinations.create({ name: 'Second', urls: ['http://localhost:9/'], enabled: false });
  expect(await relay.sources.list()).toHaveLength(2);
  expect(await relay.destinations.list()).toHaveLength(2);
  await relay.requestDeletion({ userId: 'u2' });
  relay.events$.subscribe().unsubscribe();
  relay.audit$.subscribe().unsubscribe();
}

describe.each(decorators)('Where instrument.instanceDecorator wraps every provider in %s', (_name, decorate) => {
  it('the application starts, every service works, and events are delivered', async () => {
    const { app, receiver, host, log } = await start(decorate);
    await useAnalytics(app);
    await useRelay(app);
    await receiver.received(8);
    const body = JSON.stringify({ a: 1 });
    const signature = signBody(body, 'a-shared-secret-of-some-length');
    const post = (value: string) =>
      fetch(`${host}/hook`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-signature': value },
      });
    expect((await post(signature)).status).toBe(201);
    expect((await post('wrong')).status).toBe(401);
    const answer = await fetch(`${host}/relay/api/status`, {
      headers: { authorization: 'Bearer a-token-of-some-length' },
    });
    expect(answer.status).not.toBe(500);
    await app.close();
    expect(log.matching(/^error/)).toEqual([]);
  });
});

describe('No class that Nest provides', () => {
  it('has a private field, which cannot be read through a proxy', async () => {
    const { app } = await start((instance) => instance);
    const classes = new Set<NewableFunction>([WebhookSignatureGuard]);
    for (const { name, providers, controllers } of app.get(ModulesContainer).values()) {
      if (name !== 'AnalyticsModule' && name !== 'WebhookDestinationModule') continue;
      for (const { instance } of [...providers.values(), ...controllers.values()]) {
        let type: unknown = (instance as object | undefined)?.constructor;
        for (; typeof type === 'function' && type !== Object; type = Object.getPrototypeOf(type)) classes.add(type);
      }
    }
    const names = [...classes]
      .filter((type) => /\.#\w|^\s*#\w/m.test(type.toString()))
      .map(({ name }: { name?: string }) => name);
    expect(classes.size).toBeGreaterThan(8);
    expect(names).toEqual([]);
  });
});
