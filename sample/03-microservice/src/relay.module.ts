import { Module } from '@nestjs/common';
import { memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

/** The relay: an application of its own, which takes the events and forwards them. */
@Module({
  imports: [
    WebhookDestinationModule.forRootAsync({
      useFactory: () => ({
        sources: [{ name: 'orders', writeKey: 'wk_orders' }],
        destinations: [{ urls: [process.env.WEBHOOK_URL!] }],
        queue: memoryQueue(), // The default is a SQLite file, which outlives the process.
        delivery: { allowedNetworks: ['127.0.0.0/8'] },
      }),
    }),
  ],
})
export class RelayModule {}
