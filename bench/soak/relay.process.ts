// The relay of a soak, in a process of its own that may be killed. Arguments: the plan, the URLs of the receivers by
// destination, and the place of the queue.
import 'reflect-metadata';

import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';

import { WRITE_KEY } from '../support/messages.js';
import { secretOf, type SoakDestination, type SoakPlan, toIndex } from './soak.plan.js';

/** What the process takes up. */
export interface RelayFigures {
  /** Bytes. */
  rss: number;
  heap: number;
  external: number;
  /** Open files and sockets. */
  fds: number;
  /** What keeps the event loop alive. */
  handles: number;
  /** CPU of all threads since the last answer, in parts of a core. */
  cpu: number;
  /** 99th percentile of the event loop's delay since the last answer, in ms. */
  loopDelay: number;
}

/** A message that was given up. */
export interface GivenUp {
  destination: SoakDestination;
  index: number;
  reason: string;
}

/** What the process answers when it is asked. */
export interface RelayReport {
  figures: RelayFigures;
  /** Messages given up since the last answer. */
  givenUp: GivenUp[];
  /** Deliveries that have not ended, if that was asked. */
  open: number | undefined;
}

const [planText, urlsText, place] = process.argv.slice(2) as [string, string, string];
const plan = JSON.parse(planText) as SoakPlan;
const urls = JSON.parse(urlsText) as Record<SoakDestination, string>;

const retention = {
  delivered: { age: plan.records, count: 10_000 },
  dead: { age: plan.records, count: 1_000_000 },
  messageIds: { age: plan.messageIds, count: 1_000_000 },
};

const queues = {
  sqlite: () => sqliteQueue({ path: place, retention }),
  redis: () => bullmqQueue({ connection: place, retention }),
  postgres: () => postgresQueue({ connection: place, retention }),
};

class SoakApp {}
const app = await NestFactory.create(
  {
    module: SoakApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: WRITE_KEY }],
        destinations: Object.entries(urls).map(([name, url]) => ({ name, urls: [url], sharedSecret: secretOf(name) })),
        queue: queues[plan.engine](),
        delivery: {
          allowedNetworks: ['127.0.0.0/8'],
          concurrency: plan.concurrency,
          retryWindow: plan.retryWindow,
          initialRetryDelay: plan.initialRetryDelay,
          maxRetryDelay: plan.maxRetryDelay,
        },
      }),
    ],
  },
  new FastifyAdapter(),
  { logger: ['fatal'], abortOnError: false },
);
const service = app.get(WebhookDestinationService);
let givenUp: GivenUp[] = [];
const giveUp = (destination: string, messageId: string, reason: string) =>
  givenUp.push({ destination: destination as SoakDestination, index: toIndex(messageId), reason });
service.events$.subscribe((event) => {
  if (event.type === 'dead') giveUp(event.destination, event.messageId, event.reason);
});
await app.listen(0, '127.0.0.1');
// What died before a kill, and was not told.
for (const { destination, messageId, reason } of await service.deliveries({ state: 'dead' }, { limit: 1_000_000 })) {
  giveUp(destination, messageId, reason ?? '');
}

let lastCpu = process.cpuUsage();
let lastLook = performance.now();
const loop = monitorEventLoopDelay({ resolution: 10 });
loop.enable();

function figures(): RelayFigures {
  const { rss, heapUsed: heap, external } = process.memoryUsage();
  const loopDelay = loop.percentile(99) / 1e6;
  loop.reset();
  const { user, system } = process.cpuUsage(lastCpu);
  lastCpu = process.cpuUsage();
  const cpu = (user + system) / 1_000 / (performance.now() - lastLook);
  lastLook = performance.now();
  const fds = readdirSync('/proc/self/fd').length;
  return { rss, heap, external, fds, handles: process.getActiveResourcesInfo().length, cpu, loopDelay };
}

async function countOpen(): Promise<number> {
  const counts = await service.stats();
  return counts
    .filter(({ state }) => state !== 'delivered' && state !== 'dead')
    .reduce((sum, { count }) => sum + count, 0);
}

process.on('message', (order: 'report' | 'report and count' | 'close') => {
  void (async () => {
    if (order === 'close') await app.close();
    const open = order === 'report and count' ? await countOpen() : undefined;
    const told = givenUp;
    givenUp = [];
    process.send!({ figures: figures(), givenUp: told, open } satisfies RelayReport);
  })();
});
process.on('disconnect', () => process.exit());
process.send!({ url: await app.getUrl() });
