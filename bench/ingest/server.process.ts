// One contender that takes events over HTTP, in a process of its own. Arguments: contender, platform, database file.
import 'reflect-metadata';

import { createServer, type AddressInfo } from 'node:net';

import { Body, Controller, type DynamicModule, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { memoryQueue, sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

import { WRITE_KEY } from './events.js';

export type ContenderName = 'floor' | 'memory' | 'sqlite';
export type Platform = 'Express' | 'Fastify';

/** What the server cost since it was asked before. */
export interface ServerCost {
  /** CPU time of all threads, in ms. */
  cpu: number;
  /** Deliveries that its queue holds; 0 where it has none. */
  queued: number;
}

const [contender, platform, database] = process.argv.slice(2) as [ContenderName, Platform, string];

/** The floor: Nest parses the same JSON and answers the same. */
@Controller('v1')
class FloorController {
  @Post(['batch', 'track'])
  @HttpCode(200)
  take(@Body() body: object): object {
    return { success: typeof body === 'object' };
  }
}
@Module({ controllers: [FloorController] })
class FloorModule {}

@Module({})
class RelayModule {
  /**
   * What is accepted must be in the queue, durably; what becomes of it there is not to be measured. So the one
   * request that may be in flight goes to a receiver that never answers, and all other deliveries wait behind it.
   */
  static with(receiver: string): DynamicModule {
    return {
      module: RelayModule,
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: WRITE_KEY }],
          destinations: [{ urls: [receiver] }],
          queue: contender === 'memory' ? memoryQueue() : sqliteQueue({ path: database }),
          delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency: 1, timeout: 3_600_000 },
        }),
      ],
    };
  }
}

const silent = createServer(() => undefined);
await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
const receiver = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;

const app = await NestFactory.create(
  contender === 'floor' ? FloorModule : RelayModule.with(receiver),
  platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter(),
  { logger: ['error'] },
);
await app.listen(0, '127.0.0.1');
const relay = contender === 'floor' ? undefined : app.get(WebhookDestinationService);

let since = process.cpuUsage();
async function cost(): Promise<ServerCost> {
  const { user, system } = process.cpuUsage(since);
  const counts = (await relay?.stats()) ?? [];
  since = process.cpuUsage();
  return { cpu: (user + system) / 1_000, queued: counts.reduce((sum, { count }) => sum + count, 0) };
}

process.on('message', () => void cost().then((answer) => process.send!(answer)));
process.once('disconnect', () => process.exit());
process.send!({ url: await app.getUrl() });
