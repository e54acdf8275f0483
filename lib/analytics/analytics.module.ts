import { type DynamicModule, Module } from '@nestjs/common';

import type { AnalyticsModuleExtras, AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { type AnalyticsModuleAsyncOptions, AnalyticsModuleBase } from './analytics.module-definition.js';

/**
 * Provides `AnalyticsService`, and an instance of its own for each `name`.
 * What is queued when the application closes is delivered first.
 */
@Module({})
export class AnalyticsModule extends AnalyticsModuleBase {
  /** A wrong option stops the application at bootstrap with an error that names it and its rule. */
  static override forRoot(options: AnalyticsModuleOptions & AnalyticsModuleExtras): DynamicModule {
    return super.forRoot(options ?? {}); // what is missing is told when the application starts
  }

  /** As {@link forRoot}, with options that are made by a factory, a class or an existing provider. */
  static override forRootAsync(options: AnalyticsModuleAsyncOptions): DynamicModule {
    return super.forRootAsync(options);
  }
}
