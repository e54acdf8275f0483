import {
  BadRequestException,
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Headers,
  HttpCode,
  Inject,
  Injectable,
  Param,
  ParseIntPipe,
  Post,
  Scope,
  Sse,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { ApiOperation, ApiResponse, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { type AnalyticsRequest, Track, type TrackOptions } from 'nestjs-analytics-relay';
import { map, of, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { CollectingApp } from './support/collecting.app.js';

/** Knows the user by a header, as a guard of passport's knows one by a token. */
@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AnalyticsRequest>();
    const id = request.headers!['x-user'];
    request.user = { id };
    return id !== 'nobody';
  }
}

class Order {
  @IsString()
  item!: string;
}

type Decorate = (event: string, options?: TrackOptions) => MethodDecorator;

/** The same controllers with `@Track`, or with a decorator that does nothing. */
function createShop(track: Decorate) {
  @Controller('shop')
  class ShopController {
    @track('Above All', { properties: ({ args, result }) => ({ args, result }) })
    @Get('above/:id')
    @UseGuards(UserGuard)
    @ApiOperation({ summary: 'Above all decorators' })
    above(@Param('id', ParseIntPipe) id: number, @Headers('x-user') user: string) {
      return { id, user };
    }

    @UseGuards(UserGuard)
    @ApiOperation({ summary: 'Below all decorators' })
    @ApiResponse({ status: 203, type: Order })
    @HttpCode(203)
    @Post('below')
    @track('Below All', { properties: ({ args: [order] }) => ({ ...(order as Order) }) })
    below(@Body() order: Order): Promise<Order> {
      return Promise.resolve(order);
    }

    @UseGuards(UserGuard)
    @track('Between', { on: 'error', properties: ({ error }) => ({ message: (error as Error).message }) })
    @Get('fails')
    async fails(): Promise<never> {
      await Promise.resolve();
      throw new BadRequestException('not like this');
    }

    @track('First')
    @UseGuards(UserGuard)
    @Get('twice')
    @track('Second')
    twice() {
      return of('a', 'b').pipe(map((letter) => ({ letter })));
    }

    @UseGuards(UserGuard)
    @Sse('stream')
    @track('Streamed', { properties: ({ result }) => ({ data: (result as { data: string }).data }) })
    stream() {
      return timer(0).pipe(map(() => ({ data: 'tick' })));
    }
  }

  class Base {
    @Get('inherited')
    @track('Inherited', { properties: ({ target }) => ({ by: target.constructor.name }) })
    @UseGuards(UserGuard)
    inherited() {
      return 'inherited';
    }
  }

  @Controller('child')
  class ChildController extends Base {}

  @Controller({ path: 'scoped', scope: Scope.REQUEST })
  class ScopedController {
    constructor(@Inject(REQUEST) private readonly request: AnalyticsRequest) {}

    @UseGuards(UserGuard)
    @Get()
    @track('Scoped', { properties: ({ result }) => ({ result }) })
    get() {
      return { agent: this.request.headers!['x-user'] };
    }
  }

  return [ShopController, ChildController, ScopedController] as const;
}

const tracked = createShop(Track);
const bare = createShop(() => () => undefined);

const CALLS: [method: string, path: string, body?: object][] = [
  ['GET', 'shop/above/7'],
  ['GET', 'shop/above/seven'],
  ['POST', 'shop/below', { item: 'book' }],
  ['POST', 'shop/below', { item: 1 }],
  ['GET', 'shop/fails'],
  ['GET', 'shop/twice'],
  ['GET', 'shop/stream'],
  ['GET', 'child/inherited'],
  ['GET', 'scoped'],
];

describe.each(platforms)('On $platform, a decorated route', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  const start = (controllers: readonly (typeof tracked)[number][]) =>
    CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      controllers: [...controllers],
      prepare: (app) => app.useGlobalPipes(new ValidationPipe()),
    });

  const call = (host: string, [method, path, body]: (typeof CALLS)[number], user = 'u1') =>
    fetch(`${host}/${path}`, {
      method,
      headers: { 'x-user': user, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });

  it('records each call once, with its properties and the user that a guard found', async () => {
    const app = await start(tracked);
    for (const one of CALLS) await (await call(app.host, one)).text();
    const events = (await app.eventually(8)).map(({ type, event, userId, properties }) => [
      type,
      event,
      userId,
      properties,
    ]);
    expect(events).toEqual([
      ['track', 'Above All', 'u1', { args: [7, 'u1'], result: { id: 7, user: 'u1' } }],
      ['track', 'Below All', 'u1', { item: 'book' }],
      ['track', 'Between', 'u1', { message: 'not like this' }],
      ['track', 'Second', 'u1', {}],
      ['track', 'First', 'u1', {}],
      ['track', 'Streamed', 'u1', { data: 'tick' }],
      ['track', 'Inherited', 'u1', { by: 'ChildController' }],
      ['track', 'Scoped', 'u1', { result: { agent: 'u1' } }],
    ]);
  });

  it('records nothing of a request that a guard turns away', async () => {
    const app = await start(tracked);
    expect((await call(app.host, ['GET', 'shop/above/7'], 'nobody')).status).toBe(403);
    expect(await app.events()).toEqual([]);
  });

  it('answers as it does without the decorator: status, headers and body', async () => {
    const apps = [await start(tracked), await start(bare)];
    for (const one of CALLS) {
      const [decorated, plain] = await Promise.all(
        apps.map(async ({ host }) => {
          const response = await call(host, one);
          const headers = [...response.headers].filter(([name]) => name !== 'date');
          return { status: response.status, headers, body: await response.text() };
        }),
      );
      expect(decorated).toEqual(plain);
    }
  });

  it('has the same swagger document', async () => {
    const [decorated, plain] = [await start(tracked), await start(bare)].map(({ app }) =>
      SwaggerModule.createDocument(app, new DocumentBuilder().build()),
    );
    expect(decorated).toEqual(plain);
    expect(Object.keys(decorated!.paths)).toHaveLength(7);
  });
});

describe('A decorated method', () => {
  const methods = (shop: typeof tracked) =>
    [...shop, Object.getPrototypeOf(shop[1]) as (typeof shop)[number]].flatMap(({ prototype }) =>
      Object.entries(Object.getOwnPropertyDescriptors(prototype))
        .filter(([name]) => name !== 'constructor')
        .map(([name, { value, ...flags }]) => {
          const method = value as (...args: unknown[]) => unknown;
          const metadata = Reflect.getMetadataKeys(method).map((key: string) => [
            key,
            Reflect.getMetadata(key, method) as unknown,
          ]);
          return { property: name, name: method.name, length: method.length, flags, metadata: new Map(metadata as []) };
        }),
    );

  it('has the name, length, property flags and metadata that it has without the decorator', () => {
    expect(methods(tracked)).toEqual(methods(bare));
    expect(methods(tracked)).toHaveLength(7);
  });
});
