// App B as a process of its own: an ingest endpoint and a durable queue. Configured by one JSON argument.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

const { database, retention, urls, delivery } = JSON.parse(process.argv[2]);

class RelayApp {}
const app = await NestFactory.create(
  {
    module: RelayApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls }],
        queue: sqliteQueue({ path: database, retention }),
        delivery: { allowedNetworks: ['127.0.0.0/8'], ...delivery },
      }),
    ],
  },
  { logger: ['error', 'warn'] },
);
app.enableShutdownHooks([], { useProcessExit: true });
await app.listen(0, '127.0.0.1');
console.log(`listening on ${await app.getUrl()}`);
