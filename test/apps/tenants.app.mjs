// One of the processes that share a queue and its registry. Configured by one JSON argument; does what its parent asks for.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

import { sharedQueue } from './shared-queue.mjs';

class TenantsApp {}
const app = await NestFactory.create(
  {
    module: TenantsApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        registry: 'store',
        queue: sharedQueue(JSON.parse(process.argv[2])),
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 200, maxRetryDelay: 1_000 },
      }),
    ],
  },
  { logger: false },
);
await app.listen(0, '127.0.0.1');
const { destinations } = app.get(WebhookDestinationService);
process.on('disconnect', () => process.exit());
process.on('message', async ({ id, method, args }) => {
  const answer = await destinations[method](...args).then(
    (result) => ({ result: result ?? true }),
    (error) => ({ error: `${error.code} ${error.message}` }),
  );
  process.send({ id, ...answer });
});
process.send({ host: await app.getUrl() });
