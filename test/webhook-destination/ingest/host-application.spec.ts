import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

import {
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
  Post,
  RequestTimeoutException,
  ValidationPipe,
  VersioningType,
} from '@nestjs/common';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { IsString } from 'class-validator';
import express from 'express';
import { type DeliveryQueueFactory, memoryQueue } from 'nestjs-analytics-relay';
import { catchError, map, throwError, timeout } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { type RelayAppOptions, startRelayApp } from '../../support/relay.app.js';

class Comment {
  @IsString()
  text!: string;
}

@Controller('comments')
class CommentsController {
  @Post()
  comment(@Body() body: Comment): unknown {
    return body;
  }
}

@Injectable()
class NobodyGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

class WrapInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((data: unknown) => ({ wrapped: data })));
  }
}

/** Limits the time of a route as Nest's documentation does. */
class ImpatientInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(
      timeout(20),
      catchError(() => throwError(() => new RequestTimeoutException())),
    );
  }
}

@Catch()
class TeapotFilter implements ExceptionFilter {
  catch(): never {
    throw new Error('the filter of the host was asked');
  }
}

const authorization = { Authorization: `Basic ${Buffer.from('wk_shop:').toString('base64')}` };
const message = { userId: 'u1', event: 'Order Completed' };
const large = { ...message, properties: { texts: Array.from({ length: 15 }, () => 'x'.repeat(2_000)) } };
const batch = { batch: Array.from({ length: 15 }, () => ({ ...large, type: 'track' })) };

describe.each(platforms)('In a host application on $platform, the endpoint', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it.each<[string, (app: INestApplication) => void]>([
    ['nothing special', () => undefined],
    ['a global prefix', (app) => app.setGlobalPrefix('api')],
    ['URI versioning', (app) => app.enableVersioning({ type: VersioningType.URI, defaultVersion: '7' })],
    [
      'a strict ValidationPipe',
      (app) => app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true })),
    ],
    ['a guard that lets nobody in', (app) => app.useGlobalGuards(new NobodyGuard())],
    ['an interceptor that wraps every answer', (app) => app.useGlobalInterceptors(new WrapInterceptor())],
    ['an exception filter', (app) => app.useGlobalFilters(new TeapotFilter())],
    ['CORS of its own', (app) => app.enableCors({ origin: 'https://host.example', credentials: true })],
  ])('works the same with %s', async (_case, prepare) => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter(), { prepare });
    const taken = await post(`${host}/v1/batch`, batch);
    expect([taken.status, await taken.json()]).toEqual([200, { success: true }]);
    const refused = await post(`${host}/v1/track`, { userId: 'u1' });
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'event_not_string' }]);
    await receiver.received(15);
  });

  it('never answers with success once an interceptor gave the request up', async () => {
    let isStored: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => (isStored = resolve));
    const slowQueue: DeliveryQueueFactory = (...args) => {
      const queue = memoryQueue()(...args);
      const add = queue.add.bind(queue);
      queue.add = (deliveries) => stored.then(() => add(deliveries));
      return queue;
    };
    const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
      options: { queue: slowQueue },
      prepare: (app) => app.setGlobalPrefix('api').useGlobalInterceptors(new ImpatientInterceptor()),
    });
    expect((await post(`${host}/api/v1/track`, message)).ok).toBe(false);
    isStored();
    await receiver.received(1);
  });

  it('works without the body parsers of Nest', async () => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter(), { bodyParser: false });
    expect((await post(`${host}/v1/batch`, batch)).status).toBe(200);
    await receiver.received(15);
  });

  it('does not change how the host parses the bodies of its own routes', async () => {
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      metadata: { controllers: [CommentsController] },
      prepare: (app) => app.useGlobalPipes(new ValidationPipe({ whitelist: true })),
    });
    const send = (type: string, body: string) =>
      fetch(`${host}/comments`, { method: 'POST', headers: { 'Content-Type': type }, body });
    const json = await send('application/json', '{"text":"fine","more":1}');
    expect([json.status, await json.json()]).toEqual([201, { text: 'fine' }]);
    expect((await send('application/json', '{"text":1}')).status).toBe(400);
    expect((await send('application/json', '{')).status).toBe(400);
    expect((await send('application/json', `{"text":"${'x'.repeat(2_000_000)}"}`)).status).toBe(413);
  });
});

describe.each(platforms)('Beside the fixed paths on $platform, the endpoint', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('answers with a slash at the end as well', async () => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter());
    expect((await post(`${host}/v1/batch/`, batch)).status).toBe(200);
    await receiver.received(15);
  });

  it('answers under the global prefix, where it takes the body as the host has parsed it', async () => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
      prepare: (app) => app.setGlobalPrefix('api'),
    });
    expect((await post(`${host}/api/v1/track`, large)).status).toBe(200);
    await receiver.received(1);
    const refused = await post(`${host}/api/v1/track`, { ...message, properties: { text: 'x'.repeat(33_000) } });
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'message_too_large' }]);
  });

  it("leaves a listener of the host's server that is to be called once what it is", async () => {
    let calls = 0;
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      prepare: (app) => void (app.getHttpServer() as import('node:http').Server).once('request', () => void calls++),
    });
    for (let count = 0; count < 3; count++) await fetch(`${host}/other`);
    expect(calls).toBe(1);
  });

  it('never allows credentials, whatever the host does', async () => {
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      options: { ingest: { cors: true } },
      prepare: (app) => {
        app.setGlobalPrefix('api');
        app.enableCors({ origin: 'https://host.example', credentials: true });
      },
    });
    for (const path of ['v1/track', 'api/v1/track']) {
      const { headers } = await fetch(`${host}/${path}`, {
        method: 'POST',
        headers: { ...authorization, 'Content-Type': 'application/json', Origin: 'https://host.example' },
        body: JSON.stringify(message),
      });
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(headers.has('Access-Control-Allow-Credentials')).toBe(false);
    }
  });
});

/** Lets nobody in, as an IP allow list does for strangers. */
const refuse = (_request: unknown, response: ServerResponse) => void response.writeHead(403).end();

@Module({})
class RefusingModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(refuse).forRoutes('{*path}');
  }
}

describe.each(platforms)('Beside the middleware of the application on $platform, the endpoint', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const places: [string, RelayAppOptions][] = [
    ['app.use()', { prepare: (app) => app.use(refuse) }],
    ['a module', { metadata: { imports: [RefusingModule] } }],
  ];

  it.each(places)('comes first by default, before that of %s', async (_place, settings) => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter(), settings);
    expect((await post(`${host}/v1/track`, message)).status).toBe(200);
    await receiver.received(1);
  });

  it.each(places)("comes behind that of %s with before: 'router'", async (_place, settings) => {
    const { host, relay } = await startRelayApp(afterwards, createAdapter(), {
      ...settings,
      options: { ingest: { before: 'router', cors: true } },
    });
    for (const path of ['v1/track', 'v1/track/', '//v1/track', 'v1/projects/wk_shop/settings']) {
      const method = path.endsWith('settings') ? 'GET' : 'POST';
      const init = { method, headers: authorization, ...(method === 'POST' && { body: JSON.stringify(message) }) };
      expect((await fetch(`${host}/${path}`, init)).status).toBe(403);
    }
    expect(
      (await fetch(`${host}/v1/track`, { method: 'OPTIONS', headers: { Origin: 'https://a.example' } })).status,
    ).toBe(403);
    expect(await relay.stats()).toEqual([]);
  });

  it.each([undefined, 'api'])(
    "comes before guards and pipes with before: 'router', and the prefix %s",
    async (prefix) => {
      const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
        options: { ingest: { before: 'router' } },
        prepare: (app) => {
          if (prefix !== undefined) app.setGlobalPrefix(prefix);
          app.useGlobalGuards(new NobodyGuard());
          // Fastify parses bodies behind the endpoint.
          if (app.getHttpAdapter().getType() === 'express')
            (app as NestExpressApplication).useBodyParser('json', { limit: '516kb' });
        },
      });
      expect((await post(`${host}/v1/batch`, batch)).status).toBe(200);
      const plain = {
        method: 'POST',
        headers: { ...authorization, 'Content-Type': 'text/plain' },
        body: JSON.stringify(message),
      };
      expect((await fetch(`${host}/v1/track`, plain)).status).toBe(200);
      await receiver.received(16);
      expect((await fetch(`${host}/v1/projects/wk_shop/settings`)).status).toBe(200);
      expect((await post(`${host}/v1/other`, message)).status).toBe(404);
    },
  );
});

describe('In a host on Express that', () => {
  const afterwards = useCleanUps();

  it('parses every body first, the endpoint still comes before', async () => {
    const host = express();
    host.use(express.json({ limit: '1kb' }));
    const { host: url, receiver } = await startRelayApp(afterwards, new ExpressAdapter(host), { bodyParser: false });
    expect((await post(`${url}/v1/batch`, batch)).status).toBe(200);
    await receiver.received(15);
  });

  it('has a server of its own, the endpoint answers there by the same rules', async () => {
    const { app, receiver } = await startRelayApp(afterwards, new ExpressAdapter());
    const server = createServer(app.getHttpAdapter().getInstance() as express.Express).listen(0, '127.0.0.1');
    afterwards(() => server.close());
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/batch`, {
      method: 'POST',
      headers: { ...authorization, 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' },
      body: gzipSync(JSON.stringify(batch)),
    });
    expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
    await receiver.received(15);
  });
});

describe('In a host on Fastify, the endpoint', () => {
  const afterwards = useCleanUps();

  it.each(['text/plain', 'application/json', 'application/x-www-form-urlencoded'])(
    'answers what does not come through the first server: %s, under a global prefix',
    async (type) => {
      const { app, receiver } = await startRelayApp(afterwards, new FastifyAdapter(), {
        options: { ingest: { cors: true } },
        prepare: (nest) => nest.setGlobalPrefix('api'),
      });
      const fastify = app as NestFastifyApplication;
      const preflight = await fastify.inject({
        method: 'OPTIONS',
        url: '/v1/batch',
        headers: { Origin: 'https://shop.example' },
      });
      expect(preflight.headers).toMatchObject({ 'access-control-allow-origin': 'https://shop.example' });
      const started = performance.now();
      const answer = await fastify.inject({
        method: 'POST',
        url: '/v1/batch',
        headers: { ...authorization, 'Content-Type': type, 'Content-Encoding': 'gzip' },
        payload: gzipSync(JSON.stringify(batch)),
      });
      expect([answer.statusCode, answer.json()]).toEqual([200, { success: true }]);
      // Not held back, as an answer is to a client that still sends.
      expect(performance.now() - started).toBeLessThan(1_500);
      await receiver.received(15);
    },
  );
});
