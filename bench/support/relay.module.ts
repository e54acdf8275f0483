import { type DynamicModule, Module } from '@nestjs/common';
import {
  type DeliveryQueueFactory,
  WebhookDestinationModule,
  type WebhookDestinationModuleOptions,
} from 'nestjs-analytics-relay';

import { CONCURRENCY, SECRET, WRITE_KEY } from './messages.js';

export type Transport = 'undici' | 'axios';

/** The relay with one destination. */
@Module({})
export class RelayModule {
  static with(
    queue: DeliveryQueueFactory,
    receiver: string,
    transport: Transport,
    options: Pick<WebhookDestinationModuleOptions, 'mode' | 'telemetry'> = {},
  ): DynamicModule {
    return {
      module: RelayModule,
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: WRITE_KEY }],
          destinations: [{ urls: [receiver], sharedSecret: SECRET }],
          queue,
          ...options,
          delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency: CONCURRENCY, transport },
        }),
      ],
    };
  }
}
