import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

import { concealOptions } from '../common/concealed.value.js';
import { LineLogger } from '../common/line.logger.js';
import { OptionsError } from '../common/options.error.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { type AnalyticsModuleAsyncOptions, AnalyticsModuleBase } from './analytics.module-definition.js';
import { ANALYTICS_OPTIONS } from './analytics.tokens.js';
import { connectDecoratedProviders, findInstanceNames } from './decorators/decorated-providers.util.js';
import type { AnalyticsModuleExtras } from './instance.options.js';

/**
 * Provides `AnalyticsService`, and an instance of its own for each `name`.
 * What is queued when the application closes is delivered first.
 */
@Module({})
export class AnalyticsModule extends AnalyticsModuleBase implements OnModuleInit {
  /** @internal @throws {OptionsError} where the application imports it without options only. */
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {
    super();
    if (findInstanceNames(modules).length > 0) return;
    const rule = 'must be imported as AnalyticsModule.forRoot({ writeKey }) or AnalyticsModule.forRootAsync(...)';
    // Where AnalyticsService is injected, Nest stops with an error of its own first, which does not say this.
    new LineLogger('AnalyticsModule').error(`AnalyticsModule ${rule}`);
    throw new OptionsError('AnalyticsModule', [rule]);
  }

  /** A wrong option stops the application at bootstrap with an error that names it and its rule. */
  static override forRoot(options: AnalyticsModuleOptions & AnalyticsModuleExtras): DynamicModule {
    return concealOptions(super.forRoot(options ?? {}), ANALYTICS_OPTIONS);
  }

  /** As {@link forRoot}, with options that are made by a factory, a class or an existing provider. */
  static override forRootAsync(options: AnalyticsModuleAsyncOptions): DynamicModule {
    return concealOptions(super.forRootAsync(options), ANALYTICS_OPTIONS);
  }

  /** Called by Nest: connects the decorators. */
  onModuleInit(): Promise<void> {
    return connectDecoratedProviders(this.modules);
  }
}
