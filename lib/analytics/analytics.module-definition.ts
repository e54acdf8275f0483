import { ConfigurableModuleBuilder, type DynamicModule } from '@nestjs/common';

import { toOptions } from '../common/options.rules.js';
import type { AnalyticsModuleExtras, AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { provideAnalytics } from './analytics.factory.js';
import { AnalyticsService } from './analytics.service.js';
import { ANALYTICS_OPTIONS } from './analytics.tokens.js';
import { DEFAULT_INSTANCE, InstanceOptions } from './instance.options.js';

function addInstance(module: DynamicModule, extras: AnalyticsModuleExtras): DynamicModule {
  const { name, isGlobal } = toOptions(InstanceOptions, extras);
  const instance = provideAnalytics({ name, isGlobal });
  const token = instance.provide;
  // The token of the default instance is the class, unless that is the class of the package's other build.
  const hasOtherClass = name === DEFAULT_INSTANCE && token !== AnalyticsService;
  const byClass = hasOtherClass ? [{ provide: AnalyticsService, useExisting: token }] : [];
  return {
    ...module,
    global: isGlobal,
    providers: [...(module.providers ?? []), instance, ...byClass],
    exports: [token, ...byClass.map(({ provide }) => provide)],
  };
}

const definition = new ConfigurableModuleBuilder<AnalyticsModuleOptions>({ optionsInjectionToken: ANALYTICS_OPTIONS })
  .setClassMethodName('forRoot')
  .setExtras<AnalyticsModuleExtras>({ name: undefined, isGlobal: undefined }, addInstance)
  .build();

/** The base class that gives the module `forRoot` and `forRootAsync`. */
export const AnalyticsModuleBase = definition.ConfigurableModuleClass;

/** Options of `AnalyticsModule.forRootAsync`: `useFactory`, `useClass` or `useExisting`, `name` and `isGlobal`. */
export type AnalyticsModuleAsyncOptions = typeof definition.ASYNC_OPTIONS_TYPE;
