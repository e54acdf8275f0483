import { Module } from '@nestjs/common';
import { AnalyticsModule } from 'nestjs-analytics-relay';

import { OrdersController } from './orders.controller.js';

/** The microservice: it collects, and sends its events to the relay over HTTP. */
@Module({
  imports: [
    AnalyticsModule.forRootAsync({
      useFactory: () => ({ writeKey: 'wk_orders', host: process.env.RELAY_URL, flushInterval: 100 }),
    }),
  ],
  controllers: [OrdersController],
})
export class OrdersModule {}
