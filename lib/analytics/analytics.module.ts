import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { ModuleRef, type ModulesContainer } from '@nestjs/core';

import { closeLast, modulesOf, refuseImport, refuseRequestScope } from '../common/application-modules.util.js';
import { concealOptions } from '../common/concealed.value.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { type AnalyticsModuleAsyncOptions, AnalyticsModuleBase } from './analytics.module-definition.js';
import { ANALYTICS_OPTIONS } from './analytics.tokens.js';
import { connectDecoratedProviders } from './decorators/decorated-providers.util.js';
import { findImportFault } from './imported-instances.util.js';
import type { AnalyticsModuleExtras } from './instance.options.js';

/**
 * Provides `AnalyticsService`, with a separate instance for each `name`. When the application closes, queued events are
 * delivered after all other modules have closed.
 */
@Module({})
export class AnalyticsModule extends AnalyticsModuleBase implements OnModuleInit {
  private readonly modules: ModulesContainer;

  /** @internal @throws {OptionsError} if the module is only imported without options, or twice under one name. */
  constructor(@Inject(ModuleRef) moduleRef: ModuleRef) {
    super();
    const modules = (this.modules = modulesOf(moduleRef));
    closeLast(modules, ANALYTICS_OPTIONS);
    const rule = findImportFault(modules);
    if (rule !== undefined) refuseImport(modules, 'AnalyticsModule', rule);
  }

  /**
   * Provides an instance with these options. An invalid option stops the application at bootstrap with an error that
   * names the option and its rule.
   */
  static override forRoot(options: AnalyticsModuleOptions & AnalyticsModuleExtras): DynamicModule {
    return concealOptions(super.forRoot(options ?? {}), ANALYTICS_OPTIONS);
  }

  /** Like {@link forRoot}, with options from a factory, a class or an existing provider. */
  static override forRootAsync(options: AnalyticsModuleAsyncOptions): DynamicModule {
    return concealOptions(super.forRootAsync(options), ANALYTICS_OPTIONS);
  }

  /** Connects the decorators. Called by Nest. @throws {OptionsError} if the options depend on a request. */
  onModuleInit(): Promise<void> {
    refuseRequestScope(this.modules, 'AnalyticsModule', ANALYTICS_OPTIONS);
    return connectDecoratedProviders(this.modules);
  }
}
