import { Module } from '@nestjs/common';
import { AnalyticsModule } from 'nestjs-analytics-relay';

import { events } from './events/index.js';
import { ShopService } from './shop.service.js';

@Module({
  imports: [
    AnalyticsModule.forRoot({
      writeKey: 'wk_shop',
      trackingPlan: { events, violations: 'drop' },
      // In place of sending: print what would be sent.
      httpClient: (_url, { body }) => {
        const { batch } = JSON.parse(body) as { batch: { event: string; properties: object }[] };
        for (const { event, properties } of batch) console.log(`sent: ${event} ${JSON.stringify(properties)}`);
        return Promise.resolve({ status: 200, statusText: 'OK' });
      },
    }),
  ],
  providers: [ShopService],
})
export class ShopModule {}
