import type { FactoryProvider } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';

import type { Concealed } from '../common/concealed.value.js';
import type { AnalyticsModuleExtras, AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { type CheckedAnalyticsOptions, checkOptions } from './analytics.options.js';
import { AnalyticsService } from './analytics.service.js';
import { ANALYTICS_OPTIONS, getAnalyticsToken } from './analytics.tokens.js';
import { openScopePerRequest } from './context/scope.middleware.js';

const createService = (options: CheckedAnalyticsOptions, moduleRef: ModuleRef) =>
  new AnalyticsService(options, moduleRef);

/** Provides the instance of this name. */
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
