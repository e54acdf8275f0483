import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

import { concealOptions } from '../common/concealed.value.js';
import { refuseImport } from '../common/import-refusal.util.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { type AnalyticsModuleAsyncOptions, AnalyticsModuleBase } from './analytics.module-definition.js';
import { ANALYTICS_OPTIONS } from './analytics.tokens.js';
import { connectDecoratedProviders } from './decorators/decorated-providers.util.js';
import { findImportFault } from './imported-instances.util.js';
import type { AnalyticsModuleExtras } from './instance.options.js';

/**
 * Provides `AnalyticsService`, with a separate instance for each `name`. When the application closes, queued events are
 * delivered first.
 */
@Module({})
export class AnalyticsModule extends AnalyticsModuleBase implements OnModuleInit {
  /** @internal @throws {OptionsError} if the module is only imported without options, or twice under one name. */
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {
    super();
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

  /** Connects the decorators. Called by Nest. */
  onModuleInit(): Promise<void> {
    return connectDecoratedProviders(this.modules);
  }
}
