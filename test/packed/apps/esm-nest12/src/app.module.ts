import { Module } from '@nestjs/common';
import { AnalyticsModule, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { OrderCompleted } from './order-completed.event.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [
    AnalyticsModule.forRoot({ writeKey: 'wk_shop', trackingPlan: { events: [OrderCompleted], violations: 'throw' } }),
    WebhookDestinationModule.forRootAsync({
      useFactory: () => ({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls: [process.env.HOOK_URL!], sharedSecret: process.env.HOOK_SECRET }],
        delivery: { allowedNetworks: ['127.0.0.0/8'] },
      }),
    }),
  ],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class AppModule {}
