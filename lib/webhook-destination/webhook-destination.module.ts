import { type DynamicModule, Inject, Module, type NestModule, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, ModuleRef } from '@nestjs/core';

import { closeLast, modulesOf, refuseRequestScope } from '../common/application-modules.util.js';
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
export class WebhookDestinationModule extends WebhookDestinationModuleBase implements NestModule, OnModuleInit {
  /** @internal @throws {OptionsError} if the application imports the module only without options. */
  constructor(
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(ApplicationConfig) private readonly config: ApplicationConfig,
  ) {
    super();
    const modules = modulesOf(moduleRef);
    closeLast(modules, MODULE_OPTIONS);
    checkModuleImports(modules);
  }

  /** Called by Nest. @throws {OptionsError} if the options depend on a request. */
  onModuleInit(): void {
    refuseRequestScope(modulesOf(this.moduleRef), 'WebhookDestinationModule', MODULE_OPTIONS);
  }

  /** Called by Nest before it registers the application's routes, and before `onModuleInit`. */
  async configure(): Promise<void> {
    this.onModuleInit();
    await this.moduleRef.get<AdminApi | undefined>(ADMIN_API)?.mount(this.config);
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
