import { type DynamicModule, Module } from '@nestjs/common';

import type { WebhookDestinationModuleOptions } from './options/webhook-destination.options.js';
import {
  type WebhookDestinationModuleAsyncOptions,
  WebhookDestinationModuleBase,
} from './webhook-destination.module-definition.js';
import { webhookDestinationProviders, withControllers } from './webhook-destination.providers.js';
import { WebhookDestinationService } from './webhook-destination.service.js';

/** An endpoint that SDKs post messages to, and a dispatcher that forwards them as signed webhooks. */
@Module({ providers: webhookDestinationProviders, exports: [WebhookDestinationService] })
export class WebhookDestinationModule extends WebhookDestinationModuleBase {
  /** Wrong options stop the application at bootstrap with an error that names each option and its rule. */
  static override forRoot(options: WebhookDestinationModuleOptions): DynamicModule {
    return withControllers(super.forRoot(options));
  }

  /** As {@link forRoot}, with options that are made by a factory, a class or an existing provider. */
  static override forRootAsync(options: WebhookDestinationModuleAsyncOptions): DynamicModule {
    return withControllers(super.forRootAsync(options));
  }
}
