// One of the processes that share a queue. Configured by one JSON argument; it is killed, and started again.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { WebhookDestinationModule } from 'nestjs-analytics-relay';

import { sharedQueue } from './shared-queue.mjs';

const { mode, queue, url, concurrency } = JSON.parse(process.argv[2]);

class ClusterApp {}
const app = await NestFactory.create(
  {
    module: ClusterApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls: [url] }],
        mode,
        queue: sharedQueue({ ...queue, retention: { delivered: { count: 1_000_000 } } }),
        delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency, initialRetryDelay: 200, maxRetryDelay: 1_000 },
      }),
    ],
  },
  { logger: false },
);
await app.listen(0, '127.0.0.1');
process.on('disconnect', () => process.exit());
process.send({ host: await app.getUrl() });
