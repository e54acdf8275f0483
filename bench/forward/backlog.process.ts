// Dispatches from a SQLite queue that holds a backlog: what a delivery costs then, and how much memory it takes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

import { Counter } from './contender.js';
import { BATCH, CONCURRENCY, SECRET, trackMessage, webhookBody, WRITE_KEY } from './messages.js';

/** Deliveries that are measured; there are at least as many in the queue. */
const MEASURED = 10_000;

/** What a backlog of a size costs. */
export interface BacklogCost {
  /** CPU time of a delivery, all threads, in us. */
  cpu: number;
  /** CPU time of taking a message over, in us. */
  add: number;
  /** Largest resident memory, in MB. */
  memory: number;
}

class BacklogApp {}

async function fill(path: string, count: number): Promise<number> {
  const queue = sqliteQueue({ path })();
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

async function measure(receiver: string, count: number): Promise<BacklogCost> {
  const folder = await mkdtemp(join(tmpdir(), 'relay-bench-'));
  const path = join(folder, 'relay.db');
  const add = await fill(path, count);
  const app = await NestFactory.create(
    {
      module: BacklogApp,
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: WRITE_KEY }],
          destinations: [{ urls: [receiver], sharedSecret: SECRET }],
          queue: sqliteQueue({ path }),
          delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency: CONCURRENCY },
        }),
      ],
    },
    { logger: false },
  );
  const delivered = new Counter();
  app.get(WebhookDestinationService).events$.subscribe(delivered.increment);
  const cpu = process.cpuUsage();
  await app.init();
  await delivered.reached(MEASURED);
  const { user, system } = process.cpuUsage(cpu);
  const memory = process.resourceUsage().maxRSS / 1_024;
  await app.close();
  await rm(folder, { recursive: true });
  return { cpu: (user + system) / MEASURED, add, memory };
}

const [receiver, count] = process.argv.slice(2) as [string, string];
await measure(receiver, MEASURED); // warms up
process.send!(await measure(receiver, Number(count)));
process.on('disconnect', () => process.exit());
