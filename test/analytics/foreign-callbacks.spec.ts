import { setTimeout as sleep } from 'node:timers/promises';

import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Injectable,
  type MiddlewareConsumer,
  Module,
  Param,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AnalyticsContext, type AnalyticsRequest, AnalyticsService, Track } from 'nestjs-analytics-relay';
import pg from 'pg';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { describeOnEach, POSTGRES_URL, postgresStore } from '../support/services.js';
import { CollectingApp, type CollectingAppOptions } from './support/collecting.app.js';

interface RawRequest {
  headers: Record<string, string | undefined>;
  user?: { id: string };
}
type Middleware = (request: RawRequest, response: unknown, next: (error?: unknown) => void) => void;

@Injectable()
class RecordingGuard implements CanActivate {
  constructor(private readonly analytics: AnalyticsService) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<AnalyticsRequest>();
    this.analytics.track({ event: 'Guarded', properties: { user: headers!['x-user'] } });
    return true;
  }
}

@Catch()
@Injectable()
class RecordingFilter implements ExceptionFilter {
  constructor(private readonly analytics: AnalyticsService) {}

  catch(_error: unknown, host: ArgumentsHost): void {
    const { headers } = host.switchToHttp().getRequest<AnalyticsRequest>();
    this.analytics.track({ event: 'Failed', properties: { user: headers!['x-user'] } });
    const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: string): void } }>();
    response.status(500).send('failed');
  }
}

@Controller()
@UseGuards(RecordingGuard)
@UseFilters(RecordingFilter)
class Routes {
  constructor(private readonly analytics: AnalyticsService) {}

  @Get('orders/:user')
  @Track('Viewed', { properties: ({ args: [user] }) => ({ user: user as string }) })
  async view(@Param('user') user: string): Promise<object> {
    this.analytics.track({ event: 'Handled', properties: { user } });
    await sleep(Math.random() * 10);
    this.analytics.track({ event: 'Awaited', properties: { user } });
    return { set: AnalyticsContext.get()?.context };
  }

  @Get('failing/:user')
  fail(): never {
    throw new Error('a fault');
  }
}

/** Applies the middleware as a module of Nest does. */
function applied(...middleware: Middleware[]) {
  @Module({})
  class MiddlewareModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(...middleware).forRoutes('{*path}');
    }
  }
  return MiddlewareModule;
}

interface Place {
  place: string;
  put: (loadUser: Middleware, setCampaign: Middleware) => CollectingAppOptions;
}

const places: Place[] = [
  { place: 'app.use', put: (...middleware) => ({ prepare: (app) => middleware.forEach((one) => app.use(one)) }) },
  { place: 'consumer.apply', put: (...middleware) => ({ imports: [applied(...middleware)] }) },
];

const hook: Place = {
  place: 'a hook',
  put: (loadUser, setCampaign) => ({
    prepare: (app) => {
      app.use(setCampaign);
      const fastify = app.getHttpAdapter().getInstance() as { addHook(name: string, hook: Middleware): void };
      fastify.addHook('preHandler', loadUser);
    },
  }),
};

const cases = platforms.flatMap((platform) =>
  [...places, ...(platform.platform === 'Fastify' ? [hook] : [])].map((place) => ({ ...platform, ...place })),
);

const users = Array.from({ length: 20 }, (_, index) => `u${index}`);

await describeOnEach([postgresStore], () => {
  const afterwards = useCleanUps();

  describe.each(cases)(
    'Middleware of $place that loads the user with a callback of a pool, on $platform:',
    ({ createAdapter, put }) => {
      async function start() {
        const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 2 });
        afterwards(() => pool.end());
        /** Continues in the async context in which the pool connected or took the previous query. */
        const loadUser: Middleware = (request, _response, next) => {
          pool.query('SELECT $1::text AS id', [request.headers['x-user']], (_error: Error, { rows: [user] }) => {
            request.user = user as { id: string };
            next(request.headers['x-fault'] && new Error('a fault'));
          });
        };
        const setCampaign: Middleware = (request, _response, next) => {
          AnalyticsContext.set({ context: { campaign: `of ${request.headers['x-user']}` } });
          next();
        };
        const app = await CollectingApp.start(afterwards, {
          adapter: createAdapter(),
          byNestFactory: true,
          controllers: [Routes],
          providers: [{ provide: APP_FILTER, useClass: RecordingFilter }],
          options: {
            identity: ({ raw, user }) => ({ userId: ((raw as RawRequest)?.user ?? (user as RawRequest['user']))?.id }),
          },
          ...put(loadUser, setCampaign),
        });
        const get = (path: string, user: string, headers: Record<string, string> = {}) =>
          fetch(`${app.host}/${path}/${user}`, { headers: { 'x-user': user, ...headers } });
        return { app, get };
      }

      it('each of concurrent requests records its own user and context, in guard, handler, decorator and filter', async () => {
        const { app, get } = await start();
        await Promise.all(users.flatMap((user) => [get('orders', user), get('failing', user)]));
        const events = await app.eventually(users.length * 6);
        expect(new Set(events.map(({ event }) => event))).toEqual(
          new Set(['Guarded', 'Handled', 'Awaited', 'Viewed', 'Failed']),
        );
        for (const { event, userId, properties, context } of events) {
          const user = properties!.user as string;
          expect([event, userId, context!.campaign]).toEqual([event, user, `of ${user}`]);
        }
      });

      it('each of concurrent requests that reach no handler records its own user in the global filter', async () => {
        const { app, get } = await start();
        await Promise.all(users.flatMap((user) => [get('orders', user, { 'x-fault': '1' }), get('unknown', user)]));
        const events = await app.eventually(users.length * 2);
        for (const { event, userId, properties } of events) {
          expect([event, userId]).toEqual(['Failed', properties!.user]);
        }
      });
    },
  );
});
