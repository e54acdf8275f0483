// An application that records and forwards, as the README's quick start: nothing set that it does not set, and no
// shutdown hooks. Records an event every few ms, and notes each in a file that outlives the process.
// Configured by one JSON argument.
import 'reflect-metadata';

import { openSync, writeSync } from 'node:fs';
import { setInterval } from 'node:timers';

import { NestFactory } from '@nestjs/core';
import { AnalyticsModule, AnalyticsService, sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

const { database, urls, notes } = JSON.parse(process.argv[2]);

class ShopApp {}
const app = await NestFactory.create(
  {
    module: ShopApp,
    imports: [
      AnalyticsModule.forRoot({ writeKey: 'wk_shop' }),
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls }],
        queue: sqliteQueue({ path: database }),
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 100 },
      }),
    ],
  },
  { logger: ['error', 'warn'] },
);
await app.listen(0, '127.0.0.1');
console.log(`listening on ${await app.getUrl()}`);

if (notes !== undefined) {
  const analytics = app.get(AnalyticsService);
  const file = openSync(notes, 'a');
  let count = 0;
  setInterval(() => {
    const messageId = `${process.pid}-${count++}`;
    analytics.track({ userId: 'u1', event: 'Order Completed', messageId });
    writeSync(file, `${messageId} ${Date.now()}\n`);
  }, 5);
}
