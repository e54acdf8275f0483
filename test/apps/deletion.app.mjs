// A relay that ends between the purge of a deletion and its notifications. Configured by one JSON argument.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

const { path, url } = JSON.parse(process.argv[2]);
const queue = sqliteQueue({ path })();

class DeletionApp {}
const app = await NestFactory.createApplicationContext(
  {
    module: DeletionApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls: [url] }],
        queue: () => queue,
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
      }),
    ],
  },
  { logger: false },
);
const relay = app.get(WebhookDestinationService);
await relay.requestDeletion({ userId: 'u1' });
await relay.accept('wk_shop', [{ type: 'track', event: 'Ordered', userId: 'u1', messageId: 'm1' }]);
queue.add = () => process.kill(process.pid, 'SIGKILL');
await relay.requestDeletion({ userId: 'u1' });
