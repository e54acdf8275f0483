// A relay with 200 destinations, in a heap of a limited size, whose parent reads no answers.
import 'reflect-metadata';

import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { NestFactory } from '@nestjs/core';
import { memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

const [platform, token, readToken] = process.argv.slice(2);
const app = await NestFactory.create(
  WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: 'wk_shop' }],
    destinations: Array.from({ length: 200 }, (_, index) => ({
      name: `to-${index}`,
      urls: ['https://receiver.example/hook'],
    })),
    queue: memoryQueue(),
    admin: { token, readToken },
  }),
  platform === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter(),
  { logger: false },
);
await app.listen(0, '127.0.0.1');
process.on('disconnect', () => process.exit());
process.send(new URL(await app.getUrl()).port);
