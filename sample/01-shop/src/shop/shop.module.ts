import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { AnalyticsModule, sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { adminToken, databasePath, SettingsModule, webhookUrl } from '../settings.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [
    SettingsModule,
    // Collect.
    AnalyticsModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({ writeKey: config.getOrThrow('WRITE_KEY') }),
    }),
    // Forward. The source has the same write key, so the application's own events go to it without HTTP.
    WebhookDestinationModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        sources: [{ name: 'shop', writeKey: config.getOrThrow('WRITE_KEY') }],
        destinations: [{ urls: [webhookUrl(config)], sharedSecret: config.getOrThrow<string>('WEBHOOK_SECRET') }],
        queue: sqliteQueue({ path: databasePath(config) }),
        registry: 'store', // beside those above, the dashboard can add sources and destinations
        admin: { token: adminToken(config) },
        delivery: {
          // By default, webhooks go to public addresses only. This receiver runs on the same machine.
          allowedNetworks: ['localhost'],
          initialRetryDelay: 2_000,
        },
      }),
    }),
  ],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class ShopModule {}
