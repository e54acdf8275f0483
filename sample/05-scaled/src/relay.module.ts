import { Module } from '@nestjs/common';
import { type RelayMode, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';

/** The store that all processes share. */
const connection = process.env.STORE_URL ?? 'redis://127.0.0.1:6379';
const receiver = `http://127.0.0.1:${process.env.RECEIVER_PORT ?? '3002'}/webhooks`;

/** The same module in each process; the mode, from the environment, is all that differs. */
@Module({
  imports: [
    WebhookDestinationModule.forRoot({
      mode: process.env.RELAY_MODE as RelayMode,
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [{ urls: [receiver], sharedSecret: 'a secret of both sides' }],
      queue: connection.startsWith('redis')
        ? bullmqQueue({ connection, prefix: 'sample-05' })
        : postgresQueue({ connection, prefix: 'sample_05' }),
      // The receiver of this sample runs on this machine.
      delivery: { allowedNetworks: ['127.0.0.0/8'] },
    }),
  ],
})
export class RelayModule {}
