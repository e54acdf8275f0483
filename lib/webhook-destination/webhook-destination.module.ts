import { type DynamicModule, Inject, Module, type NestModule, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModuleRef, type ModulesContainer } from '@nestjs/core';

import {
  bareImportRule,
  closeLast,
  modulesOf,
  refuseImport,
  refuseRequestScope,
} from '../common/application-modules.util.js';
import { concealOptions } from '../common/concealed.value.js';
import { findAbsence } from '../common/options.rules.js';
import type { RelaySteps } from './relay-steps.js';
import { checkRouteConflicts } from './http/route-conflicts.check.js';
import type { WebhookDestinationModuleExtras } from './visibility.options.js';
import { describeRoutes, isRelayController, routesOf } from './webhook-destination.controller.js';
import type { WebhookDestinationModuleOptions } from './webhook-destination.options.js';
import {
  type WebhookDestinationModuleAsyncOptions,
  WebhookDestinationModuleBase,
} from './webhook-destination.module-definition.js';
import { MODULE_OPTIONS, PLACED_STEPS } from './webhook-destination.tokens.js';
import { LineLogger } from '../common/line.logger.js';

const warned = new WeakSet<ModulesContainer>();

/** Provides an endpoint that accepts messages from SDKs, and a dispatcher that forwards them as signed webhooks. */
@Module({ providers: [{ provide: PLACED_STEPS, useValue: undefined }] }) // for an import without options
export class WebhookDestinationModule extends WebhookDestinationModuleBase implements NestModule, OnModuleInit {
  private readonly modules: ModulesContainer;
  /** Puts back routes that were withdrawn while Nest registered the application's. */
  private putBack: (() => void) | undefined;

  /** @internal @throws {OptionsError} if the application imports the module only without options. */
  constructor(
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(ApplicationConfig) private readonly config: ApplicationConfig,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {
    super();
    this.modules = modulesOf(moduleRef);
    closeLast(this.modules, MODULE_OPTIONS);
    checkModuleImports(this.modules);
  }

  /** Called by Nest. @throws {OptionsError} if the options depend on a request. */
  onModuleInit(): void {
    refuseRequestScope(this.modules, 'WebhookDestinationModule', MODULE_OPTIONS);
    this.putBack?.();
  }

  /**
   * Called by Nest before it registers the application's routes, and before `onModuleInit`.
   * @throws {OptionsError} if the options depend on a request, or the application has a route of the relay
   */
  async configure(): Promise<void> {
    this.onModuleInit();
    const { config, modules, host } = this;
    const steps = this.moduleRef.get<RelaySteps | undefined>(PLACED_STEPS);
    if (!steps) return;
    const routes = routesOf(steps, config.getGlobalPrefix());
    checkRouteConflicts(routes, isRelayController, steps.prefix, modules, config, host.httpAdapter);
    await steps.api?.mount(config);
    steps.portal?.mount(config);
    this.putBack = steps.withdrawAnswered(config.getGlobalPrefix());
    const description = describeRoutes(steps);
    if (description) new LineLogger('WebhookDestination').log(description);
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

/**
 * Checks how an application imports the module. Warns if it has several relays that are global: which service a module
 * injects then depends on the order of imports and the version of NestJS.
 *
 * @throws {OptionsError} if it imports the module only without options
 */
function checkModuleImports(modules: ModulesContainer): void {
  const relays = [...modules.values()].filter(({ providers }) => providers.has(MODULE_OPTIONS));
  const name = 'WebhookDestinationModule';
  if (relays.length === 0) refuseImport(modules, name, bareImportRule(name, '{ sources, destinations }'));
  if (warned.has(modules) || relays.filter(({ isGlobal }) => isGlobal).length < 2) return;
  warned.add(modules);
  new LineLogger(name).warn(
    'More than one WebhookDestinationModule is global, so a module may inject the WebhookDestinationService of the ' +
      'wrong one. Set isGlobal: false in each, and import each where its service is injected',
  );
}
