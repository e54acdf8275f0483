import { Module } from '@nestjs/common';
import { AnalyticsModule } from 'nestjs-analytics-relay';

import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

/** The application as it is deployed: its events go to a relay. */
@Module({
  imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', host: 'https://relay.example' })],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class AppModule {}
