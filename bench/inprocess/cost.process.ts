// One application that records events and forwards them, or the floor. Arguments: contender, URL of the receiver.
import 'reflect-metadata';

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  AnalyticsModule,
  AnalyticsService,
  memoryQueue,
  sqliteQueue,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';

import { Counter } from '../support/counter.js';
import { Poster, toWebhook } from '../support/poster.js';
import { trackMessage, WRITE_KEY } from '../support/messages.js';
import { RelayModule } from '../support/relay.module.js';

/** In one application, in process or through its own HTTP endpoint; and the least that can be done. */
export type CostContender = 'floor' | 'memory' | 'sqlite' | 'memory, HTTP' | 'sqlite, HTTP';

/** Events recorded in each turn of the event loop. */
const EVENTS_A_TURN = 30;

/** Events under way at most. */
const MAX_UNDER_WAY = 600;

const [contender, receiver] = process.argv.slice(2) as [CostContender, string];

interface Way {
  record: (index: number) => void;
  delivered: Counter;
}

function floor(): Way {
  const poster = new Poster(receiver);
  const record = (index: number) => poster.post([toWebhook(trackMessage(`${process.pid}-${index}`))]);
  return { record, delivered: poster.delivered };
}

async function relay(): Promise<Way> {
  const isOverHttp = contender.endsWith('HTTP');
  const folder = await mkdtemp(join(tmpdir(), 'inprocess-bench-'));
  const imports: NonNullable<ModuleMetadata['imports']> = [
    AnalyticsModule.forRootAsync({
      useFactory: () => ({ writeKey: WRITE_KEY, maxQueueSize: 100_000, ...(isOverHttp && { host: url }) }),
    }),
  ];
  const queue = contender.startsWith('memory') ? memoryQueue() : sqliteQueue({ path: join(folder, 'relay.db') });
  const forwarding = RelayModule.with(queue, receiver, 'undici');
  @Module({ imports: [forwarding] })
  class Forwarding {}
  let url = '';
  const create = async (type: new () => object) => {
    const app = await NestFactory.create(type, new FastifyAdapter(), { logger: ['error'] });
    await app.listen(0, '127.0.0.1');
    return app;
  };
  if (isOverHttp) {
    const forwardingApp = await create(Forwarding);
    url = await forwardingApp.getUrl();
    @Module({ imports })
    class Recording {}
    const app = await create(Recording);
    return toWay(app.get(AnalyticsService), forwardingApp.get(WebhookDestinationService));
  }
  @Module({ imports: [...imports, forwarding] })
  class Both {}
  const app = await create(Both);
  return toWay(app.get(AnalyticsService), app.get(WebhookDestinationService));
}

function toWay(analytics: AnalyticsService, service: WebhookDestinationService): Way {
  const delivered = new Counter();
  service.events$.subscribe(({ type }) => {
    if (type === 'delivered') delivered.increment();
    else throw new Error(`a delivery was ${type}`);
  });
  return {
    record: (index) => {
      const { userId, event, properties, context } = trackMessage(`${process.pid}-${index}`);
      analytics.track({ userId, event, properties, context });
    },
    delivered,
  };
}

/** CPU of all threads for each event, in us. */
async function measure({ record, delivered }: Way, from: number, count: number): Promise<number> {
  const { user, system } = process.cpuUsage();
  for (let index = from; index < from + count; index++) {
    if (index % EVENTS_A_TURN === 0) {
      await nextTurn();
      if (index - MAX_UNDER_WAY > 0) await delivered.reached(index - MAX_UNDER_WAY);
    }
    record(index);
  }
  await delivered.reached(from + count);
  const usage = process.cpuUsage();
  return (usage.user + usage.system - user - system) / count;
}

const way = contender === 'floor' ? floor() : await relay();
let recorded = 0;
process.on('message', ({ count }: { count: number }) => {
  void measure(way, recorded, count).then((cpu) => process.send!({ cpu }));
  recorded += count;
});
process.once('disconnect', () => process.exit());
process.send!('ready');
