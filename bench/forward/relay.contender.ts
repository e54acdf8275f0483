import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { memoryQueue, type NewDelivery, sqliteQueue, WebhookDestinationService } from 'nestjs-analytics-relay';
import type { Telemetry } from 'nestjs-analytics-relay/opentelemetry';

import { Counter } from '../support/counter.js';
import { type TrackMessage, webhookBody } from '../support/messages.js';
import { RelayModule, type Transport } from '../support/relay.module.js';
import type { Contender } from './contender.js';
import { type SharedEngine, sharedQueue } from './shared.stores.js';

/** The messages as ingest puts them into the queue. */
export function toDeliveries(messages: TrackMessage[], acceptedAt = Date.now()): NewDelivery[] {
  return messages.map((message) => ({
    destination: 'Webhooks',
    source: 'shop',
    messageId: message.messageId,
    userId: message.userId,
    body: Buffer.from(webhookBody(message)),
    acceptedAt,
  }));
}

/** This package, with a queue in memory, in a SQLite file, or in a store that processes share. */
export function relay(
  engine: 'memory' | 'sqlite' | SharedEngine,
  transport: Transport,
  telemetry?: Telemetry,
): Contender {
  const create = async () => {
    if (engine === 'redis' || engine === 'postgres') return sharedQueue(engine);
    const folder = await mkdtemp(join(tmpdir(), 'relay-bench-'));
    return {
      factory: engine === 'memory' ? memoryQueue() : sqliteQueue({ path: join(folder, 'relay.db') }),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  };
  const count = (service: WebhookDestinationService): Counter => {
    const delivered = new Counter();
    service.events$.subscribe(({ type }) => {
      if (type === 'delivered') delivered.increment();
      else throw new Error(`a delivery was ${type}`);
    });
    return delivered;
  };

  return {
    async queue(messages, receiver) {
      const { factory, remove } = await create();
      const queue = factory();
      await queue.open();
      const acceptedAt = Date.now();
      for (let start = 0; start < messages.length; start += 15) {
        await queue.add(toDeliveries(messages.slice(start, start + 15), acceptedAt));
      }
      await queue.close();
      const app = await NestFactory.create(
        RelayModule.with(() => queue, receiver, transport),
        { logger: ['error'] },
      );
      const delivered = count(app.get(WebhookDestinationService));
      const { length } = messages;
      return {
        start: async () => {
          await app.init();
          await delivered.reached(length);
        },
        close: async () => {
          await app.close();
          await remove();
        },
      };
    },

    async serve(receiver) {
      const { factory, remove } = await create();
      const app = await NestFactory.create(
        RelayModule.with(factory, receiver, transport, { telemetry }),
        new FastifyAdapter(),
        { logger: ['error'] },
      );
      await app.listen(0, '127.0.0.1');
      return {
        url: await app.getUrl(),
        delivered: count(app.get(WebhookDestinationService)).reached,
        close: async () => {
          await app.close();
          await remove();
        },
      };
    },
  };
}
