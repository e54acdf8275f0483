import { type DynamicModule, Inject, Module, type NestModule } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';

import { concealOptions } from '../common/concealed.value.js';
import { RelaySteps } from './relay-steps.js';
import type { WebhookDestinationModuleOptions } from './webhook-destination.options.js';
import {
  type WebhookDestinationModuleAsyncOptions,
  WebhookDestinationModuleBase,
} from './webhook-destination.module-definition.js';
import { webhookDestinationProviders, withController } from './webhook-destination.providers.js';
import { WebhookDestinationService } from './webhook-destination.service.js';
import { MODULE_OPTIONS } from './webhook-destination.tokens.js';

/** Provides an endpoint that accepts messages from SDKs, and a dispatcher that forwards them as signed webhooks. */
@Module({ providers: webhookDestinationProviders, exports: [WebhookDestinationService] })
export class WebhookDestinationModule extends WebhookDestinationModuleBase implements NestModule {
  constructor(
    @Inject(RelaySteps) private readonly steps: RelaySteps,
    @Inject(ApplicationConfig) private readonly config: ApplicationConfig,
  ) {
    super();
  }

  /** Called by Nest before it registers the application's routes. */
  async configure(): Promise<void> {
    await this.steps.api?.mount(this.config);
  }

  /**
   * Registers the relay. Invalid options stop the application at bootstrap with an error that names each option and its
   * rule.
   */
  static override forRoot(options: WebhookDestinationModuleOptions): DynamicModule {
    return withController(concealOptions(super.forRoot(options), MODULE_OPTIONS));
  }

  /** Same as {@link forRoot}, with options from a factory, a class or an existing provider. */
  static override forRootAsync(options: WebhookDestinationModuleAsyncOptions): DynamicModule {
    return withController(concealOptions(super.forRootAsync(options), MODULE_OPTIONS));
  }
}
