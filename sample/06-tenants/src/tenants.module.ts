import { join } from 'node:path';

import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { CustomersController } from './customers.controller.js';
import { registrySecret } from './registry-secret.js';
import { RelayErrorFilter } from './relay-error.filter.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [
    WebhookDestinationModule.forRoot({
      registry: 'store',
      registrySecret: registrySecret(),
      queue: sqliteQueue({ path: process.env.DATABASE_PATH ?? join(import.meta.dirname, '../data/relay.db') }),
      // The receiver of this sample runs on this machine. Leave it out where customers choose the URLs.
      delivery: { allowedNetworks: ['localhost'] },
    }),
  ],
  controllers: [CustomersController, WebhooksController],
  providers: [{ provide: APP_FILTER, useClass: RelayErrorFilter }],
})
export class TenantsModule {}
