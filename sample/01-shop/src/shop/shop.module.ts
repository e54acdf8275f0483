import { join } from 'node:path';

import { Module } from '@nestjs/common';
import { AnalyticsModule, sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { SHARED_SECRET, WEBHOOK_URL } from '../receiver/receiver.contract.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

/** The file that accepted events wait in. */
export const DATABASE_PATH = join(import.meta.dirname, '../../data/relay.db');

@Module({
  imports: [
    // Collect. A short interval, so that you see an event at once; the default is 10 s.
    AnalyticsModule.forRoot({ writeKey: 'wk_shop', flushInterval: 500 }),
    // Forward. With a source of the same write key in the same application, events go there without HTTP.
    WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [{ urls: [WEBHOOK_URL], sharedSecret: SHARED_SECRET }],
      queue: sqliteQueue({ path: DATABASE_PATH }),
      delivery: {
        // Webhooks go to public addresses only, unless a network is allowed: here the receiver is on this machine.
        allowedNetworks: ['127.0.0.0/8', '::1/128'],
        initialRetryDelay: 2_000,
      },
    }),
  ],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class ShopModule {}
