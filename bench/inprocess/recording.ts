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
import type { Telemetry } from 'nestjs-analytics-relay/opentelemetry';

import { Counter } from '../support/counter.js';
import { trackMessage, WRITE_KEY } from '../support/messages.js';
import { RelayModule } from '../support/relay.module.js';

/** Events recorded in each turn of the event loop. */
const EVENTS_A_TURN = 30;

/** Events under way at most. */
const MAX_UNDER_WAY = 600;

/** A way from the call to the answered webhook. */
export interface Recording {
  record: (index: number) => void;
  delivered: Counter;
}

interface RelayRecordingOptions {
  /** Records and forwards in two applications. */
  isOverHttp?: boolean;
  telemetry?: Telemetry;
}

/** By this package. */
export async function createRelayRecording(
  engine: 'memory' | 'sqlite',
  receiver: string,
  { isOverHttp = false, telemetry }: RelayRecordingOptions = {},
): Promise<Recording> {
  const folder = await mkdtemp(join(tmpdir(), 'inprocess-bench-'));
  let url = '';
  const imports: NonNullable<ModuleMetadata['imports']> = [
    AnalyticsModule.forRootAsync({
      useFactory: () => ({ writeKey: WRITE_KEY, maxQueueSize: 100_000, telemetry, ...(isOverHttp && { host: url }) }),
    }),
  ];
  const queue = engine === 'memory' ? memoryQueue() : sqliteQueue({ path: join(folder, 'relay.db') });
  const forwarding = RelayModule.with(queue, receiver, 'undici', { telemetry });
  const create = async (type: new () => object) => {
    const app = await NestFactory.create(type, new FastifyAdapter(), { logger: ['error'] });
    await app.listen(0, '127.0.0.1');
    return app;
  };
  if (isOverHttp) {
    @Module({ imports: [forwarding] })
    class Forwarding {}
    const forwardingApp = await create(Forwarding);
    url = await forwardingApp.getUrl();
    @Module({ imports })
    class Recording {}
    const app = await create(Recording);
    return toRecording(app.get(AnalyticsService), forwardingApp.get(WebhookDestinationService));
  }
  @Module({ imports: [...imports, forwarding] })
  class Both {}
  const app = await create(Both);
  return toRecording(app.get(AnalyticsService), app.get(WebhookDestinationService));
}

function toRecording(analytics: AnalyticsService, service: WebhookDestinationService): Recording {
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
export async function measureRecording({ record, delivered }: Recording, from: number, count: number): Promise<number> {
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
