import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { RelayHealthIndicator } from 'nestjs-analytics-relay/terminus';

import { HealthController } from './health.controller.js';

/** A setting without a default. */
function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name}, as README.md describes.`);
  return value;
}

@Module({
  imports: [
    TerminusModule,
    WebhookDestinationModule.forRootAsync({
      useFactory: () => ({
        sources: [{ name: 'shop', writeKey: required('WRITE_KEY') }],
        destinations: [{ urls: [required('WEBHOOK_URL')], sharedSecret: required('WEBHOOK_SECRET') }],
        queue: sqliteQueue({ path: process.env.DATABASE_PATH, maxBytes: 1024 * 1024 * 1024 }),
        // Receivers inside the network of the container, such as 10.0.0.0/8.
        delivery: { allowedNetworks: process.env.ALLOWED_NETWORKS?.split(',').filter(Boolean) },
      }),
    }),
  ],
  controllers: [HealthController],
  providers: [RelayHealthIndicator],
})
export class AppModule {}
