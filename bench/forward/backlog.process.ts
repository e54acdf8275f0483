// Fills a queue, or dispatches from one that another process has filled, as after a restart: what a delivery costs
// beside a backlog, and how much memory each takes.
import { NestFactory } from '@nestjs/core';
import {
  type DeliveryQueueFactory,
  sqliteQueue,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';

import { Counter } from '../support/counter.js';
import { BATCH, CONCURRENCY, SECRET, trackMessage, webhookBody, WRITE_KEY } from '../support/messages.js';
import { type SharedEngine, storeQueue } from './shared.stores.js';
import { storeCpu } from './store.cpu.js';

/** Deliveries that are measured; there are at least as many in the queue. */
const MEASURED = 10_000;

/** What it costs to fill a queue. */
export interface FillCost {
  /** CPU time of taking a message over, in us. */
  add: number;
  /** Largest resident memory, in MB. */
  memory: number;
}

/** What it costs to dispatch from a queue that holds a backlog. */
export interface DrainCost {
  /** CPU time of a delivery, all threads, and that of a store beside it, in us. */
  cpu: number;
  /** Time of a delivery, in us. */
  elapsed: number;
  /** Largest resident memory, in MB. */
  memory: number;
  /** Time until the application is up, in ms: the queue then knows which messages were accepted. */
  start: number;
}

type Engine = 'sqlite' | SharedEngine;

class BacklogApp {}

/** The queue in a place: a file, or a part of a shared store. */
function queueIn(engine: Engine, place: string): DeliveryQueueFactory {
  return engine === 'sqlite' ? sqliteQueue({ path: place }) : storeQueue(engine, place);
}

function largestMemory(): number {
  return process.resourceUsage().maxRSS / 1_024;
}

async function fill(factory: DeliveryQueueFactory, count: number): Promise<FillCost> {
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
  return { add: (user + system) / Math.max(count, 1), memory: largestMemory() };
}

async function drain(engine: Engine, queue: DeliveryQueueFactory, receiver: string): Promise<DrainCost> {
  const app = await NestFactory.create(
    {
      module: BacklogApp,
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: WRITE_KEY }],
          destinations: [{ urls: [receiver], sharedSecret: SECRET }],
          queue,
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
  const memory = largestMemory();
  await app.close();
  return { cpu: (user + system + storeTime) / MEASURED, elapsed: (elapsed * 1_000) / MEASURED, memory, start };
}

// What one process fills, another drains: first the place to warm up in, then the one that is measured.
const [task, engine, receiver, warmUp, place, count] = process.argv.slice(2) as [
  'fill' | 'drain',
  Engine,
  string,
  string,
  string,
  string,
];
if (task === 'fill') {
  await fill(queueIn(engine, warmUp), MEASURED);
  process.send!(await fill(queueIn(engine, place), Number(count)));
} else {
  await drain(engine, queueIn(engine, warmUp), receiver);
  process.send!(await drain(engine, queueIn(engine, place), receiver));
}
process.on('disconnect', () => process.exit());
