import { AsyncResource } from 'node:async_hooks';
import type { Server } from 'node:http';

import { Controller, Get, type MiddlewareConsumer, Module, Param, Req } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AnalyticsContext, AnalyticsModule, type AnalyticsRequest, AnalyticsService } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { CollectingApp, type CollectingAppOptions } from './support/collecting.app.js';

interface RawRequest {
  headers: Record<string, string>;
  originalUrl?: string;
}

/** As much as is used here of an instance that a Fastify plugin gets. */
interface FastifyInstance {
  get(path: string, handler: (request: object) => object): void;
}

type Middleware = (request: RawRequest, response: unknown, next: () => void) => void;

@Controller()
class Routes {
  constructor(private readonly analytics: AnalyticsService) {}

  @Get('orders/:id')
  view(@Req() request: AnalyticsRequest, @Param('id') id: string) {
    this.analytics.track({ event: 'Viewed', properties: { id } });
    return { isOwnRequest: AnalyticsContext.get()?.request === request };
  }
}

/** Applies the middleware as a module of Nest does. */
function applied(middleware: Middleware, route: string | typeof Routes = Routes) {
  @Module({})
  class MiddlewareModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(middleware).forRoutes(route);
    }
  }
  return MiddlewareModule;
}

const places: { place: string; put: (middleware: Middleware) => CollectingAppOptions }[] = [
  { place: 'app.use', put: (middleware) => ({ prepare: (app) => app.use(middleware) }) },
  { place: 'consumer.apply', put: (middleware) => ({ imports: [applied(middleware)] }) },
];

const cases = [
  { platform: 'Express', createAdapter: () => new ExpressAdapter() },
  { platform: 'Fastify', createAdapter: () => new FastifyAdapter({ trustProxy: true }) },
].flatMap((platform) =>
  [
    { maker: 'NestFactory', byNestFactory: true },
    { maker: 'the testing module', byNestFactory: false },
  ].flatMap((maker) => places.map((place) => ({ ...platform, ...maker, ...place }))),
);

describe.each(cases)('On $platform by $maker, middleware of $place', ({ createAdapter, byNestFactory, put }) => {
  const afterwards = useCleanUps();

  async function start(middleware: Middleware, given: CollectingAppOptions = {}) {
    const app = await CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      byNestFactory,
      controllers: [Routes],
      ...given,
      ...put(middleware),
    });
    const get = async (id: string, visitor: string) =>
      (await fetch(`${app.host}/orders/${id}`, { headers: { 'x-visitor': visitor } })).json();
    return { get, events: () => app.events() };
  }

  it('sets what the handler’s events carry, each of its own request', async () => {
    const answers: boolean[] = [];
    const { get, events } = await start((request, _response, next) => {
      answers.push(
        AnalyticsContext.set({ anonymousId: request.headers['x-visitor'], context: { from: 'middleware' } }),
      );
      setTimeout(next, Math.random() * 10);
    });
    const count = 20;
    const bodies = await Promise.all(Array.from({ length: count }, (_, index) => get(`${index}`, `a${index}`)));
    expect(answers).toEqual(Array.from({ length: count }, () => true));
    // On Fastify too, identity and mappers get the request that handlers get.
    expect(bodies).toEqual(Array.from({ length: count }, () => ({ isOwnRequest: true })));
    const recorded = await events();
    expect(recorded).toHaveLength(count);
    for (const { anonymousId, properties, context } of recorded) {
      const id = String(properties!.id);
      expect(anonymousId).toBe(`a${id}`);
      expect(context).toMatchObject({
        from: 'middleware',
        ip: expect.stringMatching(/127\.0\.0\.1$/),
        page: { path: `/orders/${id}`, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/orders\/\d+$/) },
      });
    }
  });

  it('may continue in the async context of another request, as a callback of a pool does', async () => {
    let first: AsyncResource | undefined;
    const { get, events } = await start((request, _response, next) => {
      AnalyticsContext.set({ anonymousId: request.headers['x-visitor'] });
      const pool = (first ??= new AsyncResource('pool'));
      setTimeout(() => pool.runInAsyncScope(() => next()), Math.random() * 10);
    });
    const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
    await Promise.all(ids.map((id) => get(id, `a${id}`)));
    const recorded = await events();
    expect(recorded).toHaveLength(ids.length);
    for (const { anonymousId, properties } of recorded) expect(anonymousId).toBe(`a${String(properties!.id)}`);
  });

  it('runs the rest of the request in a scope of its own', async () => {
    const { get, events } = await start(
      (request, _response, next) => AnalyticsContext.run({ anonymousId: request.headers['x-visitor'] }, next),
      { imports: [AnalyticsModule.forRoot({ name: 'second', writeKey: 'k', disable: true })] },
    );
    expect(await get('7', 'a1')).toEqual({ isOwnRequest: true });
    expect(await events()).toMatchObject([{ anonymousId: 'a1', context: { page: { path: '/orders/7' } } }]);
  });
});

describe('On Fastify, middleware', () => {
  const afterwards = useCleanUps();

  const start = (given: CollectingAppOptions) =>
    CollectingApp.start(afterwards, {
      adapter: new FastifyAdapter(),
      byNestFactory: true,
      controllers: [Routes],
      ...given,
    });

  it('records events with what Node’s request tells', async () => {
    const app = await start({
      prepare: (nest) =>
        nest.use((_request: unknown, _response: unknown, next: () => void) => {
          nest.get(AnalyticsService).track({ event: 'Passed', userId: 'u1' });
          next();
        }),
    });
    await fetch(`${app.host}/orders/7?secret`);
    const [passed] = await app.events();
    expect(passed).toMatchObject({ event: 'Passed', context: { ip: '127.0.0.1', page: { path: '/orders/7' } } });
  });

  it.each([
    ['NestFactory', true],
    ['the testing module', false],
  ])('of a module sets what the routes of a Fastify plugin see, by %s', async (_maker, byNestFactory) => {
    const answers: boolean[] = [];
    const app = await start({
      byNestFactory,
      imports: [
        applied((_request, _response, next) => {
          answers.push(AnalyticsContext.set({ anonymousId: 'a1' }));
          next();
        }, '*path'),
      ],
      prepare: async (nest) => {
        await (nest as NestFastifyApplication).register(
          (plugin: FastifyInstance, _options: object, done: () => void) => {
            plugin.get('/plain', (request) => {
              const { request: known, anonymousId } = AnalyticsContext.get()!;
              return { isOwnRequest: known === request, anonymousId };
            });
            done();
          },
        );
      },
    });
    expect(await (await fetch(`${app.host}/plain`)).json()).toEqual({ isOwnRequest: true, anonymousId: 'a1' });
    expect(answers).toEqual([true]);
  });

  it('is not run at all where the application has none', async () => {
    const app = await start({});
    let raw: RawRequest | undefined;
    (app.app.getHttpServer() as Server).on('request', (request) => (raw = request as unknown as RawRequest));
    await fetch(`${app.host}/orders/7`);
    expect(raw).toBeDefined();
    // Fastify's engine for middleware puts it there.
    expect(raw!.originalUrl).toBeUndefined();
  });
});
