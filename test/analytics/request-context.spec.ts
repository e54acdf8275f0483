import { once } from 'node:events';
import { connect, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Param,
  Post,
  Req,
  UseGuards,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  type AmbientIdentity,
  AnalyticsContext,
  AnalyticsContextInterceptor,
  AnalyticsModule,
  type AnalyticsRequest,
  AnalyticsService,
  InjectAnalytics,
  Track,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { waitFor } from '../support/wait-for.js';
import { CollectingApp, type CollectingAppOptions } from './support/collecting.app.js';

/** Puts the user on the request that the header tells, in JSON. */
@Injectable()
class UserGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    await sleep(1);
    const request = context.switchToHttp().getRequest<AnalyticsRequest>();
    const user = request.headers!['x-user'];
    if (user) request.user = JSON.parse(user as string) as unknown;
    return true;
  }
}

@Controller()
@UseGuards(UserGuard)
class Routes {
  readonly gone = { started: false, finish: () => {} };

  constructor(private readonly analytics: AnalyticsService) {}

  @Get('tracked/:id')
  @Track('Tracked')
  tracked(): void {}

  @Post('posted')
  @Track('Posted', { properties: ({ request }) => ({ path: request?.originalUrl }) })
  posted(@Body() body: { name: string }) {
    this.analytics.identify({ traits: { name: body.name } });
    return body;
  }

  @Get('called')
  called(): void {
    this.analytics.identify({ traits: { plan: 'pro' } });
    this.analytics.track({ event: 'Called' });
    this.analytics.page({ name: 'Called' });
    this.analytics.screen({ name: 'Called' });
    this.analytics.group({ groupId: 'g1' });
    this.analytics.alias({ previousId: 'a1' });
  }

  @Get('own')
  own(): void {
    this.analytics.track({ userId: 'u9', event: 'Own user' });
    this.analytics.track({ anonymousId: 'a1', event: 'Same visitor' });
    this.analytics.track({ anonymousId: 'a9', event: 'Own visitor' });
    if (!AnalyticsContext.get()?.request?.headers?.['x-visitor']) return;
    this.analytics.track({ event: 'Own context', context: { ip: '192.0.2.9', locale: undefined, more: 1 } });
  }

  @Get('set')
  set(): void {
    AnalyticsContext.set({ userId: 8, groupId: 'g8', context: { campaign: 'spring' } });
    this.analytics.track({ event: 'Set' });
    this.analytics.group({});
  }

  @Get('large')
  large(): void {
    AnalyticsContext.set({ context: { tenant: 't1' } });
    this.analytics.track({ event: 'Large', properties: { text: 'x'.repeat(32_200) } });
  }

  @Get('apart/:id')
  async apart(@Param('id') id: string, @Req() request: AnalyticsRequest) {
    await sleep(Math.random() * 20);
    AnalyticsContext.set({ context: { number: id } });
    await sleep(Math.random() * 20);
    this.analytics.track({ event: 'Apart', properties: { id } });
    await Promise.all([0, 1].map(() => this.nested(id)));
    return { same: AnalyticsContext.get()?.request === request };
  }

  @Track('Nested', { properties: ({ args: [id] }) => ({ id: id as string }) })
  async nested(_id: string): Promise<void> {
    await sleep(Math.random() * 20);
  }

  @Get('gone')
  @Track('Gone')
  async leave(): Promise<void> {
    this.gone.started = true;
    await new Promise<void>((resolve) => (this.gone.finish = resolve));
  }
}

const platforms = [
  { platform: 'Express', createAdapter: () => new ExpressAdapter() },
  {
    platform: 'Fastify',
    createAdapter: () => new FastifyAdapter({ trustProxy: true, routerOptions: { maxParamLength: 5_000 } }),
  },
];

/** Trusts the proxy in front, as each platform is told to. */
const trustProxy: CollectingAppOptions['prepare'] = (app) => {
  if (app.getHttpAdapter().getType() === 'express') (app as NestExpressApplication).set('trust proxy', true);
};

const browser = {
  'user-agent': 'Browser/1.0',
  'accept-language': 'de-CH,de;q=0.9,en;q=0.5',
  referer: 'https://shop.example/list?token=secret',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'shop.example',
};

const as = (user: object) => ({ 'x-user': JSON.stringify(user) });

describe.each(platforms)('On $platform, an event that is recorded in a request', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start(given: CollectingAppOptions = {}) {
    const app = await CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      controllers: [Routes],
      prepare: trustProxy,
      ...given,
    });
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${app.host}/${path}`, { headers });
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      return response.text();
    };
    return { ...app, get, events: () => app.events() };
  }

  describe('has the context of the request:', () => {
    const page = {
      path: '/tracked/7',
      url: 'https://shop.example/tracked/7',
      referrer: 'https://shop.example/list',
    };
    const all = { ip: '203.0.113.7', userAgent: 'Browser/1.0', locale: 'de-CH', page };

    it.each<[string, CollectingAppOptions['options'], object]>([
      ['all of it by default, queries left out', {}, all],
      ['all of it', { context: true }, all],
      ['no ip', { context: { ip: false } }, { ...all, ip: undefined }],
      ['no user agent', { context: { userAgent: false } }, { ...all, userAgent: undefined }],
      ['no locale', { context: { locale: false } }, { ...all, locale: undefined }],
      ['no page', { context: { page: false, ip: undefined } }, { ...all, page: undefined }],
      ['nothing', { context: false }, {}],
    ])('%s', async (_case, options, expected) => {
      const { get, events } = await start({ options });
      await get('tracked/7?coupon=secret', { ...browser, ...as({ id: 'u1' }) });
      const { context } = (await events())[0]!;
      delete context!.library;
      expect(context).toEqual(JSON.parse(JSON.stringify(expected)));
    });

    it('cut to 256 characters a text and 1,024 a path, and left out before the event is refused', async () => {
      const { get, events } = await start();
      const long = 'x'.repeat(3_000);
      const headers = { 'user-agent': long, 'accept-language': long, referer: `https://shop.example/${long}` };
      await get(`tracked/${long}`, { ...headers, ...as({ id: 'u1' }) });
      await get('large', { ...browser, ...headers, ...as({ id: 'u1' }) });
      const [cut, large] = await events();
      const { userAgent, locale, page: { path, url, referrer } = {} } = cut!.context!;
      expect([userAgent, locale, referrer].map((text) => (text as string).length)).toEqual([256, 256, 256]);
      expect(path).toBe(`/tracked/${long}`.slice(0, 1024));
      expect(url!.endsWith(path!)).toBe(true);
      expect(large).toMatchObject({ userId: 'u1', context: { tenant: 't1' } });
      expect(large!.context).not.toHaveProperty('userAgent');
    });

    it('without a proxy in front, the address of the connection', async () => {
      const { get, events } = await start({
        adapter: createAdapter().getType() === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(),
        prepare: () => undefined,
      });
      await get('tracked/7', { ...browser, 'accept-language': '*', ...as({ id: 'u1' }) });
      const { context } = (await events())[0]!;
      expect(context).toMatchObject({
        ip: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$/),
        page: { ...page, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/tracked\/7$/) },
      });
      expect(context).not.toHaveProperty('locale');
    });

    it('the address of a client that is gone by then', async () => {
      const collecting = await CollectingApp.start(afterwards, { adapter: createAdapter(), controllers: [Routes] });
      const { app, host } = collecting;
      const { gone } = app.get(Routes);
      const socket = connect(Number(new URL(host).port), '127.0.0.1');
      socket.write(`GET /gone HTTP/1.1\r\nHost: a\r\nX-User: {"id":"u1"}\r\n\r\n`);
      await waitFor(() => gone.started);
      socket.destroy();
      const server = app.getHttpServer() as Server;
      const connections = promisify(server.getConnections.bind(server));
      await waitFor(async () => (await connections()) === 0);
      gone.finish();
      expect((await collecting.eventually(1))[0]!.context!.ip).toMatch(/127\.0\.0\.1$/);
    });
  });

  describe('is about', () => {
    it.each<[string, object, CollectingAppOptions['options'], object]>([
      ["the request's user, by id", { id: 'u1', sub: 's1' }, {}, { userId: 'u1' }],
      ["the subject of the user's token", { sub: 's1' }, {}, { userId: 's1' }],
      ['a user with a number', { id: 17 }, {}, { userId: '17' }],
      ['user 0', { id: 0 }, {}, { userId: '0' }],
      [
        'whom the identity option tells, by then after guards',
        { email: 'a@shop.example' },
        {
          identity: ({ user, headers }) => ({
            userId: (user as { email: string }).email,
            anonymousId: headers!['x-visitor'] as string,
          }),
        },
        { userId: 'a@shop.example', anonymousId: 'a1' },
      ],
    ])('%s', async (_case, user, options, ids) => {
      const { get, events } = await start({ options });
      await get('tracked/7', { ...as(user), 'x-visitor': 'a1' });
      const { userId, anonymousId } = (await events())[0]!;
      expect({ userId, anonymousId }).toEqual({ anonymousId: undefined, ...ids });
    });

    it('nobody, and is logged and not recorded, where nobody is known and visitors are not recorded', async () => {
      const { get, events, log } = await start({ options: { anonymous: false } });
      await get('tracked/7');
      expect(await events()).toEqual([]);
      expect(log.matching(/^warn/)).toEqual([
        'warn Routes.tracked was not recorded: at least one of userId and anonymousId must be a non-empty string',
      ]);
    });

    // Vitest fails a run that leaves a rejection unhandled.
    const rejected = (): unknown => Promise.reject(new Error('nobody handles this'));
    const noPromise = 'it must not return a promise; look up ids in a guard or middleware';

    it.each<[string, NonNullable<CollectingAppOptions['options']>['identity'], string]>([
      [
        'throws',
        () => {
          throw new Error('no session');
        },
        'no session',
      ],
      ['tells no id', () => ({ userId: {} as string }), 'userId must be a string or a number'],
      ['is asynchronous', (() => rejected()) as unknown as () => AmbientIdentity, noPromise],
      ['tells ids later', () => ({ userId: rejected(), anonymousId: rejected() }) as AmbientIdentity, noPromise],
    ])('those whom it names itself, where the identity option %s', async (_case, identity, reason) => {
      const { get, events, log } = await start({ options: { identity } });
      await get('own');
      expect(await events()).toMatchObject([{ userId: 'u9' }, { anonymousId: 'a1' }, { anonymousId: 'a9' }]);
      expect(log.matching(/identity/)).toEqual([`warn The identity option failed: ${reason}`]);
    });
  });

  it('is filled in for each method of the service', async () => {
    const { get, events } = await start();
    await get('called', { ...browser, ...as({ id: 'u1' }) });
    const recorded = await events();
    expect(recorded.map(({ type }) => type)).toEqual(['identify', 'track', 'page', 'screen', 'group', 'alias']);
    for (const message of recorded) {
      expect(message).toMatchObject({ userId: 'u1', context: { ip: '203.0.113.7', page: { path: '/called' } } });
    }
  });

  it('keeps its own fields, and is never about two people', async () => {
    const { get, events } = await start({ options: { identity: () => ({ userId: 'u1', anonymousId: 'a1' }) } });
    await get('own', { ...browser, 'x-visitor': 'a1' });
    const ids = (await events()).map(({ event, userId, anonymousId }) => [event, userId, anonymousId]);
    expect(ids).toEqual([
      ['Own user', 'u9', undefined],
      ['Same visitor', 'u1', 'a1'],
      ['Own visitor', undefined, 'a9'],
      ['Own context', 'u1', 'a1'],
    ]);
    const { context } = (await events())[3]!;
    expect(context).toMatchObject({ ip: '192.0.2.9', userAgent: 'Browser/1.0', more: 1 });
    expect(context).not.toHaveProperty('locale');
  });

  it('has what AnalyticsContext.set adds, which takes precedence over the request', async () => {
    const { get, events } = await start();
    await get('set', as({ id: 'u1' }));
    await get('called', as({ id: 'u1' }));
    const [set, group, ...others] = await events();
    expect(set).toMatchObject({ userId: '8', context: { groupId: 'g8', campaign: 'spring' } });
    expect(group).toMatchObject({ type: 'group', userId: '8', groupId: 'g8', context: { campaign: 'spring' } });
    expect(group!.context).not.toHaveProperty('groupId');
    for (const other of others) expect(other.context).not.toHaveProperty('campaign');
  });

  it('has what a middleware of the application set, also where the body comes later', async () => {
    let middlewareCalls = 0;
    const { host, events } = await start({
      prepare: (app) =>
        app.use((_request: unknown, _response: unknown, next: () => void) => {
          AnalyticsContext.set({ anonymousId: 'cookie' });
          middlewareCalls++;
          next();
        }),
    });
    const socket = connect(Number(new URL(host).port), '127.0.0.1');
    const body = JSON.stringify({ name: 'A', padding: 'x'.repeat(50_000) });
    const head = [
      'POST /posted HTTP/1.1',
      'Host: shop.example',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await waitFor(() => middlewareCalls === 1);
    socket.write(body.slice(0, 100));
    socket.write(body.slice(100));
    await once(socket, 'data');
    socket.destroy();
    expect(await events()).toMatchObject([
      { type: 'identify', anonymousId: 'cookie', context: { page: { path: '/posted' } } },
      { type: 'track', anonymousId: 'cookie', properties: { path: '/posted' } },
    ]);
  });

  it('keeps the context of the request under a global AnalyticsContextInterceptor', async () => {
    const { get, events } = await start({
      providers: [{ provide: APP_INTERCEPTOR, useClass: AnalyticsContextInterceptor }],
    });
    await get('set', as({ id: 'u1' }));
    expect(await events()).toMatchObject([{ userId: '8', context: { page: { path: '/set' } } }, { userId: '8' }]);
  });

  it('is of its own request, with hundreds in flight', async () => {
    const { get, events } = await start({ options: { maxEventsInBatch: 100 } });
    const count = 400;
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => get(`apart/${index}`, as({ id: `u${index}` }))),
    );
    expect(new Set(answers)).toEqual(new Set(['{"same":true}']));
    const recorded = await events();
    expect(recorded).toHaveLength(3 * count);
    for (const { userId, properties, context } of recorded) {
      expect([userId, context!.number, context!.page!.path]).toEqual([
        `u${properties!.id}`,
        properties!.id,
        `/apart/${properties!.id}`,
      ]);
    }
  });

  it('has the ids and context that the options of its instance ask for', async () => {
    @Controller()
    class Both {
      constructor(
        private readonly shop: AnalyticsService,
        @InjectAnalytics('quiet') private readonly quiet: AnalyticsService,
      ) {}

      @Get('both')
      both(): void {
        AnalyticsContext.set({ groupId: 'g1' });
        this.shop.track({ event: 'Shop' });
        this.quiet.track({ event: 'Quiet' });
      }
    }
    const { app, endpoint, get } = await start({
      controllers: [Both],
      imports: [
        AnalyticsModule.forRootAsync({
          name: 'quiet',
          useFactory: () => ({
            writeKey: 'wk_quiet',
            disable: true,
            context: false,
            identity: () => ({ userId: 'q' }),
          }),
        }),
      ],
      options: { identity: () => ({ userId: 's' }) },
    });
    const quiet = app.get(Both)['quiet'];
    const recorded: unknown[] = [];
    quiet.on('track', ({ event: { userId, context } }) =>
      recorded.push({ userId, context: { ...context, library: 0 } }),
    );
    await get('both');
    await Promise.all([quiet.flush(), app.get(AnalyticsService).flush()]);
    expect(recorded).toEqual([{ userId: 'q', context: { groupId: 'g1', library: 0 } }]);
    expect(endpoint.webhooks[0]!.body.batch).toMatchObject([
      { userId: 's', context: { groupId: 'g1', page: { path: '/both' } } },
    ]);
  });
});
