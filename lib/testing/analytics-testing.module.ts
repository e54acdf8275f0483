import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';

import type { AnalyticsModuleExtras, AnalyticsModuleOptions } from '../analytics/analytics-module-options.interface.js';
import { AnalyticsModule } from '../analytics/analytics.module.js';
import type { AnalyticsService } from '../analytics/analytics.service.js';
import { ANALYTICS_OPTIONS, DEFAULT_INSTANCE, getAnalyticsToken } from '../analytics/analytics.tokens.js';
import { AnalyticsRecorder } from './analytics.recorder.js';
import { createRecordingAnalytics } from './recording.analytics.js';

/** Options of `AnalyticsTestingModule`: those of `AnalyticsModule`, none of them required. */
export type AnalyticsTestingOptions = Partial<AnalyticsModuleOptions> & AnalyticsModuleExtras;

/** The part of a `TestingModuleBuilder` that is needed to replace a provider. */
export interface ProviderOverrider {
  overrideProvider(token: unknown): {
    useFactory(options: { factory: typeof createRecordingAnalytics; inject: unknown[] }): unknown;
  };
}

/** One recording instance: `AnalyticsModule` as it is, but for the provider of the instance. */
@Module({})
class RecordingModule extends AnalyticsModule {}

function recordingInstance({ writeKey = 'test', ...options }: AnalyticsTestingOptions): DynamicModule {
  const module = AnalyticsModule.forRoot({ ...options, writeKey });
  const token = getAnalyticsToken(options.name);
  const recording: Provider = {
    provide: token,
    useFactory: createRecordingAnalytics,
    inject: [ANALYTICS_OPTIONS, ModuleRef],
  };
  const recorder: Provider = {
    provide: AnalyticsRecorder,
    useFactory: (analytics: AnalyticsService) => AnalyticsRecorder.of(analytics),
    inject: [token],
  };
  const isDefault = (options.name ?? DEFAULT_INSTANCE) === DEFAULT_INSTANCE;
  const providers = (module.providers ?? []).filter(
    (provider) => (provider as { provide?: unknown }).provide !== token,
  );
  return {
    ...module,
    module: RecordingModule,
    providers: [...providers, recording, ...(isDefault ? [recorder] : [])],
    exports: [...(module.exports ?? []), ...(isDefault ? [AnalyticsRecorder] : [])],
  };
}

/**
 * Takes the place of `AnalyticsModule` in tests: `AnalyticsService` and the decorators work as ever, and what they
 * record is kept in an `AnalyticsRecorder` in place of being sent. No network, no timers, no database.
 *
 * Import it as it is for the default instance, or with `forRoot` for one with options or a name.
 */
@Module({ imports: [recordingInstance({})], exports: [RecordingModule] })
export class AnalyticsTestingModule {
  /** An instance with these options, such as `name`, `plugins` or `trackingPlan`. */
  static forRoot(options: AnalyticsTestingOptions = {}): DynamicModule {
    return recordingInstance(options);
  }

  /**
   * Lets the `AnalyticsModule` that an application under test imports record in place of sending; its options stay.
   *
   * @example
   * ```ts
   * const builder = Test.createTestingModule({ imports: [AppModule] });
   * const app = await AnalyticsTestingModule.override(builder).compile();
   * const recorder = AnalyticsRecorder.of(app.get(AnalyticsService));
   * ```
   * @param names Names of the instances; without any, the default instance.
   * @returns The builder.
   */
  static override<Builder extends ProviderOverrider>(builder: Builder, ...names: string[]): Builder {
    for (const name of names.length > 0 ? names : [DEFAULT_INSTANCE]) {
      builder.overrideProvider(getAnalyticsToken(name)).useFactory({
        factory: createRecordingAnalytics,
        inject: [ANALYTICS_OPTIONS, ModuleRef],
      });
    }
    return builder;
  }
}
