// A Nest application with one route, in a process of its own. Arguments: contender, platform, URL of the sink.
import 'reflect-metadata';

import { Controller, type DynamicModule, Get, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AnalyticsModule, AnalyticsService, Track } from 'nestjs-analytics-relay';

/**
 * A bare route; the same with `AnalyticsModule` imported, which opens a scope per request; with `@Track` on it; and that
 * with larger batches than the default.
 */
export type ContenderName = 'bare' | 'module' | 'track' | 'track, flushAt: 100';
export type Platform = 'Express' | 'Fastify';

const [contender, platform, host] = process.argv.slice(2) as [ContenderName, Platform, string];

const decorate: MethodDecorator = contender.startsWith('track')
  ? Track('Order Viewed', { userId: 'u1', properties: ({ args: [id] }) => ({ orderId: id as string }) })
  : () => undefined;

@Controller('orders')
class OrdersController {
  @decorate
  @Get(':id')
  view(@Param('id') id: string): object {
    return { id, total: 9.9 };
  }
}

@Module({})
class AppModule {
  static create(): DynamicModule {
    const analytics = AnalyticsModule.forRoot({
      writeKey: 'k',
      host,
      flushAt: contender === 'track, flushAt: 100' ? 100 : 15,
    });
    return {
      module: AppModule,
      imports: contender === 'bare' ? [] : [analytics],
      controllers: [OrdersController],
    };
  }
}

const app = await NestFactory.create(
  AppModule.create(),
  platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter(),
  { logger: ['error'] },
);
await app.listen(0, '127.0.0.1');
const analytics = contender === 'bare' ? undefined : app.get(AnalyticsService);

let since = process.cpuUsage();

/** CPU time of all threads since it was asked before, in ms, with all events delivered. */
async function cost(): Promise<{ cpu: number }> {
  await analytics?.flush();
  const { user, system } = process.cpuUsage(since);
  since = process.cpuUsage();
  return { cpu: (user + system) / 1_000 };
}

process.on('message', () => void cost().then((answer) => process.send!(answer)));
process.once('disconnect', () => process.exit());
process.send!({ url: await app.getUrl() });
