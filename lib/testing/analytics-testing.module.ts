import { type DynamicModule, type FactoryProvider, Module, type Provider } from '@nestjs/common';

import type { AnalyticsModuleExtras, AnalyticsModuleOptions } from '../analytics/analytics-module-options.interface.js';
import { provideAnalytics } from '../analytics/analytics.factory.js';
import { AnalyticsModule } from '../analytics/analytics.module.js';
import { AnalyticsService } from '../analytics/analytics.service.js';
import { DEFAULT_INSTANCE } from '../analytics/instance.options.js';
import type { EventLedger } from '../client/event/event.ledger.js';
import { type HTTPClient, RelayError } from '../client/index.js';
import { AnalyticsRecorder } from './analytics.recorder.js';
import { RecordingQueue } from './recording.queue.js';

/** Options of `AnalyticsTestingModule`: those of `AnalyticsModule`, all optional. */
export type AnalyticsTestingOptions = Partial<AnalyticsModuleOptions> & AnalyticsModuleExtras;

/** The part of a `TestingModuleBuilder` that is needed to replace a provider. */
export interface ProviderOverrider {
  overrideProvider(token: unknown): {
    useFactory(options: { factory: FactoryProvider['useFactory']; inject?: FactoryProvider['inject'] }): unknown;
  };
}

const NO_NETWORK: HTTPClient = {
  makeRequest: () => Promise.reject(new RelayError('network_disabled', 'There is no network in this test')),
};

/** Provides the instance of this name. It processes events as ever, and records them instead of sending them. */
function provideRecording(extras: AnalyticsModuleExtras): FactoryProvider {
  return provideAnalytics(extras, (options, moduleRef) => {
    const recorder = new AnalyticsRecorder();
    const createSink = (ledger: EventLedger) => new RecordingQueue(recorder, ledger);
    const analytics = new AnalyticsService({ ...options, httpClient: NO_NETWORK }, moduleRef, createSink);
    recorder.attach(analytics);
    return analytics;
  });
}

/** One recording instance: `AnalyticsModule` as it is, but for the provider of the instance. */
@Module({})
class RecordingModule extends AnalyticsModule {}

function recordingInstance({ writeKey = 'test', ...options }: AnalyticsTestingOptions): DynamicModule {
  const module = AnalyticsModule.forRoot({ ...options, writeKey });
  const recording = provideRecording({ name: options.name, isGlobal: options.isGlobal });
  const token = recording.provide;
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
 * Replaces `AnalyticsModule` in tests: `AnalyticsService` and the decorators work as ever, and an `AnalyticsRecorder`
 * keeps the events instead of sending them. No network, no timers, no database.
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
   * Makes the `AnalyticsModule` of an application under test record events instead of sending them; its options stay.
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
      const { provide, useFactory: factory, inject } = provideRecording({ name });
      builder.overrideProvider(provide).useFactory({ factory, inject });
    }
    return builder;
  }
}
