import { type DynamicModule, Inject, Module, type NestModule } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';

import { concealOptions } from '../common/concealed.value.js';
import { findAbsence } from '../common/options.rules.js';
import { checkModuleImports } from './module-imports.check.js';
import type { RelaySteps } from './relay-steps.js';
import { checkRouteConflicts } from './route-conflicts.check.js';
import type { WebhookDestinationModuleExtras } from './visibility.options.js';
import { isRelayController, routesOf } from './webhook-destination.controller.js';
import type { WebhookDestinationModuleOptions } from './webhook-destination.options.js';
import {
  type WebhookDestinationModuleAsyncOptions,
  WebhookDestinationModuleBase,
} from './webhook-destination.module-definition.js';
import { MODULE_OPTIONS, PLACED_STEPS } from './webhook-destination.tokens.js';

/** Provides an endpoint that accepts messages from SDKs, and a dispatcher that forwards them as signed webhooks. */
@Module({ providers: [{ provide: PLACED_STEPS, useValue: undefined }] }) // for an import without options
export class WebhookDestinationModule extends WebhookDestinationModuleBase implements NestModule {
  /** @internal @throws {OptionsError} if the application imports the module only without options. */
  constructor(
    @Inject(PLACED_STEPS) private readonly steps: RelaySteps | undefined,
    @Inject(ApplicationConfig) private readonly config: ApplicationConfig,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {
    super();
    checkModuleImports(modules);
  }

  /**
   * Called by Nest before it registers the application's routes.
   * @internal @throws {OptionsError} if the application has a route of the relay
   */
  async configure(): Promise<void> {
    const { steps, config, modules, host } = this;
    if (!steps) return;
    const routes = routesOf(steps, config.getGlobalPrefix());
    checkRouteConflicts(routes, isRelayController, steps.prefix, modules, config, host.httpAdapter);
    await steps.api?.mount(config);
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
