import { join } from 'node:path';

import { Module } from '@nestjs/common';
import { sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { ACCOUNTS } from './accounts.js';
import { EVENTS } from './events.js';
import { secrets } from './secrets.js';
import { SessionsService } from './sessions.service.js';
import { SignInController } from './sign-in.controller.js';
import { WebhooksController } from './webhooks.controller.js';

const { registrySecret, portalSecret } = secrets();
const { PORT = '3000' } = process.env;

@Module({
  imports: [
    WebhookDestinationModule.forRoot({
      // A source for each customer; `metadata.tenant` says whose.
      sources: ACCOUNTS.map(({ name, writeKey }) => ({ name, writeKey, metadata: { tenant: name } })),
      destinations: [],
      registry: 'store',
      registrySecret,
      portal: {
        secret: portalSecret,
        events: EVENTS,
        embed: [`http://localhost:${PORT}`],
        brand: { name: 'Orders Inc.', accent: '#0b7a75' },
      },
      queue: sqliteQueue({ path: process.env.DATABASE_PATH ?? join(import.meta.dirname, '../data/relay.db') }),
      // The receiver of this sample runs on this machine. Leave it out where customers choose the URLs.
      delivery: { allowedNetworks: ['localhost'] },
    }),
  ],
  controllers: [SignInController, WebhooksController],
  providers: [SessionsService],
})
export class TenantsModule {}
