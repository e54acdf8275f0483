import { ConfigurableModuleBuilder, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';

import type { Concealed } from '../common/concealed.value.js';
import { toOptions } from '../common/options.rules.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { type CheckedAnalyticsOptions, checkOptions } from './analytics.options.js';
import { AnalyticsService } from './analytics.service.js';
import { ANALYTICS_OPTIONS, getAnalyticsToken } from './analytics.tokens.js';
import { openScopePerRequest } from './context/scope.middleware.js';
import { type AnalyticsModuleExtras, DEFAULT_INSTANCE, InstanceOptions } from './instance.options.js';

const createService = (options: CheckedAnalyticsOptions, moduleRef: ModuleRef) =>
  new AnalyticsService(options, moduleRef);

export function provideAnalytics(extras: AnalyticsModuleExtras, create = createService): FactoryProvider {
  return {
    provide: getAnalyticsToken(extras.name),
    useFactory: (options: Concealed<AnalyticsModuleOptions>, moduleRef: ModuleRef, adapterHost: HttpAdapterHost) => {
      const analytics = create(checkOptions(options.reveal(), extras), moduleRef);
      openScopePerRequest(adapterHost);
      return analytics;
    },
    inject: [ANALYTICS_OPTIONS, ModuleRef, HttpAdapterHost],
  };
}

function addInstance(module: DynamicModule, extras: AnalyticsModuleExtras): DynamicModule {
  const { name, isGlobal } = toOptions(InstanceOptions, extras);
  const instance = provideAnalytics({ name, isGlobal });
  const token = instance.provide;
  // The token of the default instance is the class, but with both builds loaded it may be the other build's class.
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

export const AnalyticsModuleBase = definition.ConfigurableModuleClass;

/** Options of `AnalyticsModule.forRootAsync`: `useFactory`, `useClass` or `useExisting`, `name` and `isGlobal`. */
export type AnalyticsModuleAsyncOptions = typeof definition.ASYNC_OPTIONS_TYPE;
