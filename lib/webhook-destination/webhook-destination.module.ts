import { type DynamicModule, Inject, Module, type NestModule } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';

import { concealOptions } from '../common/concealed.value.js';
import { findAbsence } from '../common/options.rules.js';
import type { AdminApi } from './admin/api/admin-api.js';
import { checkModuleImports } from './module-imports.check.js';
import type { WebhookDestinationModuleExtras } from './visibility.options.js';
import type { WebhookDestinationModuleOptions } from './webhook-destination.options.js';
import {
  type WebhookDestinationModuleAsyncOptions,
  WebhookDestinationModuleBase,
} from './webhook-destination.module-definition.js';
import { ADMIN_API, MODULE_OPTIONS } from './webhook-destination.tokens.js';

/** Provides an endpoint that accepts messages from SDKs, and a dispatcher that forwards them as signed webhooks. */
@Module({ providers: [{ provide: ADMIN_API, useValue: undefined }] }) // for an import without options
export class WebhookDestinationModule extends WebhookDestinationModuleBase implements NestModule {
  /** @internal @throws {OptionsError} if the application imports the module only without options. */
  constructor(
    @Inject(ADMIN_API) private readonly api: AdminApi | undefined,
    @Inject(ApplicationConfig) private readonly config: ApplicationConfig,
    @Inject(ModulesContainer) modules: ModulesContainer,
  ) {
    super();
    checkModuleImports(modules);
  }

  /** Called by Nest before it registers the application's routes. */
  async configure(): Promise<void> {
    await this.api?.mount(this.config);
  }

  /**
   * Registers the relay. Invalid options stop the application at bootstrap with an error that names each option and its
   * rule.
   */
  static override forRoot(options: WebhookDestinationModuleOptions & WebhookDestinationModuleExtras): DynamicModule {
    // The base class reads the properties of an object. Anything else is refused at bootstrap, like a factory's result.
    const isAbsent = findAbsence(options).length > 0;
    const module = isAbsent ? super.forRootAsync({ useFactory: () => options }) : super.forRoot(options);
    return concealOptions(module, MODULE_OPTIONS);
  }

  /** Same as {@link forRoot}, with options from a factory, a class or an existing provider. */
  static override forRootAsync(options: WebhookDestinationModuleAsyncOptions): DynamicModule {
    return concealOptions(super.forRootAsync(options), MODULE_OPTIONS);
  }
}
