import { Module } from '@nestjs/common';
import { AnalyticsModule, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';
import pg from 'pg';

import { OrdersService } from './orders.service.js';
import { ShopController } from './shop.controller.js';

const connection = process.env.DATABASE_URL ?? 'postgres://postgres:postgres@127.0.0.1:5432/postgres';

@Module({
  imports: [
    WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [{ urls: [`http://127.0.0.1:${process.env.PORT ?? '3000'}/webhooks`] }],
      queue: postgresQueue({ connection, prefix: 'sample_09' }),
      // The receiver of this sample is the shop itself.
      delivery: { allowedNetworks: ['127.0.0.0/8'] },
    }),
    AnalyticsModule.forRoot({ writeKey: 'wk_shop' }),
  ],
  controllers: [ShopController],
  providers: [OrdersService, { provide: 'POOL', useFactory: () => new pg.Pool({ connectionString: connection }) }],
})
export class ShopModule {}
