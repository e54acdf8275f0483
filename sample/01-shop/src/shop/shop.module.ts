import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { AnalyticsModule, sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { databasePath, SettingsModule, webhookUrl } from '../settings.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [
    SettingsModule,
    // Collect. A short interval, so that you see an event at once; the default is 10 s.
    AnalyticsModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({ writeKey: config.getOrThrow('WRITE_KEY'), flushInterval: 500 }),
    }),
    // Forward. With a source of the same write key in the same application, events go there without HTTP.
    WebhookDestinationModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        sources: [{ name: 'shop', writeKey: config.getOrThrow('WRITE_KEY') }],
        destinations: [{ urls: [webhookUrl(config)], sharedSecret: config.getOrThrow<string>('WEBHOOK_SECRET') }],
        queue: sqliteQueue({ path: databasePath(config) }),
        delivery: {
          // Webhooks go to public addresses only, unless a network is allowed: here the receiver is on this machine.
          allowedNetworks: ['127.0.0.0/8', '::1/128'],
          initialRetryDelay: 2_000,
        },
      }),
    }),
  ],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class ShopModule {}
