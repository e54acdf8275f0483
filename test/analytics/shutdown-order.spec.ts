import { randomUUID } from 'node:crypto';

import { BullModule, getQueueToken, Processor, WorkerHost } from '@nestjs/bullmq';
import { Global, Injectable, Module, type ModuleMetadata, type OnApplicationShutdown } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Job, Queue } from 'bullmq';
import {
  AnalyticsModule,
  AnalyticsScope,
  AnalyticsService,
  memoryQueue,
  Track,
  WebhookDestinationModule,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { LogLines } from '../support/relay.js';
import { describeOnEach, REDIS_URL, redisStore } from '../support/services.js';
import { waitFor } from '../support/wait-for.js';

type Imports = NonNullable<ModuleMetadata['imports']>;

const orders = [
  { order: 'before', sort: (analytics: Imports, others: Imports): Imports => [...analytics, ...others] },
  { order: 'after', sort: (analytics: Imports, others: Imports): Imports => [...others, ...analytics] },
];

const afterwards = useCleanUps();

/** Modules that record events and deliver them to the receiver, over HTTP or through the relay of the application. */
async function collecting(isInProcess: boolean): Promise<{ receiver: Receiver; analytics: Imports }> {
  const receiver = await Receiver.start();
  afterwards(() => receiver.stop());
  if (!isInProcess) {
    return {
      receiver,
      analytics: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', host: new URL(receiver.url).origin })],
    };
  }
  const relay = WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: 'wk_shop' }],
    destinations: [{ urls: [receiver.url] }],
    queue: memoryQueue(),
    delivery: { allowedNetworks: ['127.0.0.0/8'] },
  });
  return { receiver, analytics: [AnalyticsModule.forRoot({ writeKey: 'wk_shop' }), relay] };
}

async function start(imports: Imports, providers: ModuleMetadata['providers'] = []) {
  // The imports of a dynamic module would be registered before the modules that they import themselves.
  @Module({ imports, providers })
  class AppModule {}
  const log = new LogLines();
  const app = await NestFactory.createApplicationContext(AppModule, { logger: log, abortOnError: false });
  await app.init();
  return { app, log };
}

const eventsOf = ({ webhooks }: Receiver) =>
  webhooks.flatMap(({ body }) => (Array.isArray(body.batch) ? (body.batch as { event: string }[]) : [body]));

@Injectable()
class Drain implements OnApplicationShutdown {
  constructor(private readonly analytics: AnalyticsService) {}

  async onApplicationShutdown(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.analytics.track({ event: 'Drained', userId: 'u1' });
  }
}

@Global()
@Module({ providers: [Drain] })
class DrainModule {}

const cases = orders.flatMap((order) => [true, false].map((isInProcess) => ({ ...order, isInProcess })));

describe.each(cases)('Imported $order a global module (relay in process: $isInProcess)', ({ sort, isInProcess }) => {
  it('AnalyticsModule delivers what that module records while it closes', async () => {
    const { receiver, analytics } = await collecting(isInProcess);
    const { app, log } = await start(sort(analytics, [DrainModule]));
    await app.close();
    expect(eventsOf(receiver)).toMatchObject([{ event: 'Drained', userId: 'u1' }]);
    expect(log.matching(/not delivered/)).toEqual([]);
  });
});

let finish!: () => void;

@Processor('mail')
class MailWorker extends WorkerHost {
  started = false;

  @AnalyticsScope((job: Job<{ userId: string }>) => ({ userId: job.data.userId }))
  @Track('Mail Sent')
  async process(_job: Job<{ userId: string }>): Promise<void> {
    this.started = true;
    await new Promise<void>((resolve) => (finish = resolve));
  }
}

await describeOnEach([redisStore], () => {
  it.each(orders)(
    'Imported $order BullModule, AnalyticsModule delivers the event of a job in flight',
    async ({ sort }) => {
      const { receiver, analytics } = await collecting(false);
      const { hostname: host, port } = new URL(REDIS_URL);
      const bull = [
        BullModule.forRoot({ connection: { host, port: Number(port) }, prefix: `test-${randomUUID()}` }),
        BullModule.registerQueue({ name: 'mail' }),
      ];
      const { app, log } = await start(sort(analytics, bull), [MailWorker]);
      const queue = app.get<Queue>(getQueueToken('mail'), { strict: false });
      await queue.add('welcome', { userId: 'u1' });
      await waitFor(() => app.get(MailWorker).started);
      const closed = app.close();
      setTimeout(() => finish(), 50);
      await closed;
      expect(eventsOf(receiver)).toMatchObject([{ event: 'Mail Sent', userId: 'u1' }]);
      expect(log.matching(/not delivered/)).toEqual([]);
    },
  );
});
