import { type DynamicModule, type FactoryProvider, Module, type Provider } from '@nestjs/common';

import type { AnalyticsModuleOptions } from '../analytics/analytics-module-options.interface.js';
import { AnalyticsModule } from '../analytics/analytics.module.js';
import { provideAnalytics } from '../analytics/analytics.module-definition.js';
import { AnalyticsService } from '../analytics/analytics.service.js';
import { type AnalyticsModuleExtras, DEFAULT_INSTANCE } from '../analytics/instance.options.js';
import type { EventLedger } from '../client/event/event.ledger.js';
import type { EventSink } from '../client/event/pending-event.interface.js';
import type { Message } from '../client/index.js';
import { AnalyticsRecorder } from './analytics.recorder.js';

/** Options of `AnalyticsTestingModule`: those of `AnalyticsModule`, all optional. */
export type AnalyticsTestingOptions = Partial<AnalyticsModuleOptions> & AnalyticsModuleExtras;

/** The part of `TestingModuleBuilder` that replaces a provider. */
export interface ProviderOverrider {
  overrideProvider(token: unknown): {
    useFactory(options: { factory: FactoryProvider['useFactory']; inject?: FactoryProvider['inject'] }): unknown;
  };
}

/** Replaces the queue: each event is recorded synchronously, and counts as delivered. No network, no timers. */
function recordingSink(recorder: AnalyticsRecorder, ledger: EventLedger): EventSink {
  return {
    add: (event) => {
      const { fault, json } = event.message;
      if (!fault) recorder.add(JSON.parse(json) as Message, event.transaction?.tx);
      ledger.endLater(event, fault);
    },
    flush: () => undefined,
    abort: () => undefined,
    abortAll: () => undefined,
  };
}

/** Creates the provider of an instance that processes events as usual, but records them instead of sending them. */
function provideRecording(extras: AnalyticsModuleExtras): FactoryProvider {
  return provideAnalytics(extras, (options, moduleRef) => {
    const recorder = new AnalyticsRecorder();
    const analytics = new AnalyticsService(
      options,
      moduleRef,
      (ledger) => recordingSink(recorder, ledger),
      (tx) => recorder.rolledBack(tx),
    );
    recorder.attach(analytics);
    return analytics;
  });
}

/** One recording instance: `AnalyticsModule` with another provider of the instance. */
@Module({})
class RecordingModule extends AnalyticsModule {}

function recordingInstance({ writeKey = 'test', ...options }: AnalyticsTestingOptions): DynamicModule {
  const module = AnalyticsModule.forRoot({ ...options, writeKey });
  const recording = provideRecording({ name: options.name, isGlobal: options.isGlobal });
  const recorder: Provider = {
    provide: AnalyticsRecorder,
    useFactory: (analytics: AnalyticsService) => AnalyticsRecorder.of(analytics),
    inject: [recording.provide],
  };
  const isDefault = (options.name ?? DEFAULT_INSTANCE) === DEFAULT_INSTANCE;
  return {
    ...module,
    module: RecordingModule,
    providers: [...(module.providers ?? []), recording, ...(isDefault ? [recorder] : [])], // the last provider applies
    exports: [...(module.exports ?? []), ...(isDefault ? [AnalyticsRecorder] : [])],
  };
}

/**
 * Replaces `AnalyticsModule` in tests: `AnalyticsService` and the decorators work as usual, and an `AnalyticsRecorder`
 * stores events instead of sending them. Uses no network, timers or database.
 *
 * Import the class for the default instance, or `forRoot` for an instance with options or a name.
 */
@Module({ imports: [recordingInstance({})], exports: [RecordingModule] })
export class AnalyticsTestingModule {
  /** Provides an instance with these options, such as `name`, `plugins` or `trackingPlan`. */
  static forRoot(options: AnalyticsTestingOptions = {}): DynamicModule {
    return recordingInstance(options);
  }

  /**
   * Makes the `AnalyticsModule` of an application under test record events instead of sending them. Its options still
   * apply.
   *
   * @example
   * ```ts
   * const builder = Test.createTestingModule({ imports: [AppModule] });
   * const app = await AnalyticsTestingModule.override(builder).compile();
   * const recorder = AnalyticsRecorder.of(app.get(AnalyticsService));
   * ```
   * @param names Names of the instances; without names, the default instance.
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
