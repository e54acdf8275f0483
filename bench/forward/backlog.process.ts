// Dispatches from a queue that holds a backlog: what a delivery costs then, and how much memory it takes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NestFactory } from '@nestjs/core';
import {
  type DeliveryQueueFactory,
  sqliteQueue,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';

import { Counter } from './contender.js';
import { BATCH, CONCURRENCY, SECRET, trackMessage, webhookBody, WRITE_KEY } from './messages.js';
import { type SharedEngine, sharedQueue } from './shared.stores.js';
import { storeCpu } from './store.cpu.js';

/** Deliveries that are measured; there are at least as many in the queue. */
const MEASURED = 10_000;

/** What a backlog of a size costs. */
export interface BacklogCost {
  /** CPU time of a delivery, all threads, and that of a store beside it, in us. */
  cpu: number;
  /** Time of a delivery, in us. */
  elapsed: number;
  /** CPU time of taking a message over, in us. */
  add: number;
  /** Largest resident memory, in MB. */
  memory: number;
  /** Time until the application is up, in ms: the queue then knows which messages were accepted. */
  start: number;
}

type Engine = 'sqlite' | SharedEngine;

class BacklogApp {}

async function createQueue(engine: Engine): Promise<{ factory: DeliveryQueueFactory; remove: () => Promise<void> }> {
  if (engine !== 'sqlite') return sharedQueue(engine);
  const folder = await mkdtemp(join(tmpdir(), 'relay-bench-'));
  return {
    factory: sqliteQueue({ path: join(folder, 'relay.db') }),
    remove: () => rm(folder, { recursive: true }),
  };
}

async function fill(factory: DeliveryQueueFactory, count: number): Promise<number> {
  const queue = factory();
  await queue.open();
  const cpu = process.cpuUsage();
  for (let start = 0; start < count; start += BATCH * 32) {
    const batches = Array.from({ length: 32 }, (_, batch) =>
      Array.from({ length: BATCH }, (_, index) => start + batch * BATCH + index).filter((index) => index < count),
    );
    const acceptedAt = Date.now();
    await Promise.all(
      batches.map((indexes) =>
        queue.add(
          indexes.map((index) => {
            const message = trackMessage(`message-${index}`);
            const { messageId, userId } = message;
            return {
              destination: 'Webhooks',
              source: 'shop',
              messageId,
              userId,
              body: Buffer.from(webhookBody(message)),
              acceptedAt,
            };
          }),
        ),
      ),
    );
  }
  const { user, system } = process.cpuUsage(cpu);
  await queue.close();
  return (user + system) / count;
}

async function measure(engine: Engine, receiver: string, count: number): Promise<BacklogCost> {
  const { factory, remove } = await createQueue(engine);
  const add = await fill(factory, count);
  const app = await NestFactory.create(
    {
      module: BacklogApp,
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: WRITE_KEY }],
          destinations: [{ urls: [receiver], sharedSecret: SECRET }],
          queue: factory,
          delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency: CONCURRENCY },
        }),
      ],
    },
    { logger: false },
  );
  const delivered = new Counter();
  app.get(WebhookDestinationService).events$.subscribe(delivered.increment);
  const opened = performance.now();
  await app.init();
  const start = performance.now() - opened;
  const store = engine === 'sqlite' ? 0 : storeCpu(engine);
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await delivered.reached(MEASURED);
  const elapsed = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  const storeTime = engine === 'sqlite' ? 0 : (storeCpu(engine) - store) * 1_000;
  const memory = process.resourceUsage().maxRSS / 1_024;
  await app.close();
  await remove();
  return { cpu: (user + system + storeTime) / MEASURED, elapsed: (elapsed * 1_000) / MEASURED, add, memory, start };
}

const [engine, receiver, count] = process.argv.slice(2) as [Engine, string, string];
await measure(engine, receiver, MEASURED); // warms up
process.send!(await measure(engine, receiver, Number(count)));
process.on('disconnect', () => process.exit());
