import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { openTelemetry } from 'nestjs-analytics-relay/opentelemetry';
import { RelayHealthIndicator } from 'nestjs-analytics-relay/terminus';

import { HealthController } from './health.controller.js';

/** The second application: takes the events, and forwards them. */
@Module({
  imports: [
    TerminusModule,
    WebhookDestinationModule.forRootAsync({
      useFactory: () => ({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ name: 'CRM', urls: [process.env.WEBHOOK_URL!] }],
        queue: memoryQueue(), // The default is a SQLite file, which outlives the process.
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 200 },
        admin: { token: 'a-token-for-development-only', readToken: 'another-one-for-prometheus' },
        telemetry: openTelemetry(),
      }),
    }),
  ],
  controllers: [HealthController],
  providers: [RelayHealthIndicator],
})
export class RelayModule {}
