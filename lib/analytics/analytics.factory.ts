import type { FactoryProvider } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';

import { ValidationError } from '../client/index.js';
import { OptionsError } from '../common/options.error.js';
import { findOptionFaults, toOptions } from '../common/options.rules.js';
import { isPositiveNumber } from '../common/value.util.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { AnalyticsService } from './analytics.service.js';
import { ANALYTICS_OPTIONS, getAnalyticsToken } from './analytics.tokens.js';
import { ContextOptions } from './context/context.options.js';
import { openScopePerRequest } from './context/scope.mount.js';
import { findPlanFaults } from './tracking-plan/tracking-plan.options.js';

const MODULE = 'AnalyticsModule';

/** Provides the instance of this name, as an object of this class. */
export function provideAnalytics(name: string | undefined, Service = AnalyticsService): FactoryProvider {
  return {
    provide: getAnalyticsToken(name),
    useFactory: (options: AnalyticsModuleOptions, moduleRef: ModuleRef, adapterHost: HttpAdapterHost) => {
      const analytics = createAnalytics(Service, options, moduleRef);
      openScopePerRequest(adapterHost);
      return analytics;
    },
    inject: [ANALYTICS_OPTIONS, ModuleRef, HttpAdapterHost],
  };
}

/**
 * The instance that a module's options describe.
 * @throws {OptionsError} that names the option at fault and its rule.
 */
function createAnalytics(
  Service: typeof AnalyticsService,
  options: AnalyticsModuleOptions,
  moduleRef: ModuleRef,
): AnalyticsService {
  const faults = findFaults(options);
  if (faults.length > 0) throw new OptionsError(MODULE, faults);
  try {
    return new Service(options, moduleRef);
  } catch (error) {
    throw error instanceof ValidationError ? new OptionsError(MODULE, [error.message]) : error;
  }
}

/** What is wrong with the options that `Analytics` knows nothing of. */
function findFaults({ shutdownTimeout, identity, context, anonymous, trackingPlan }: AnalyticsModuleOptions): string[] {
  const faults = findPlanFaults(trackingPlan);
  if (shutdownTimeout !== undefined && !isPositiveNumber(shutdownTimeout)) {
    faults.push('shutdownTimeout must be a number of milliseconds above 0');
  }
  if (identity !== undefined && typeof identity !== 'function') {
    faults.push('identity must be a function of the request');
  }
  if (typeof context === 'object' && context !== null) {
    const switches = findOptionFaults(toOptions(ContextOptions, context));
    faults.push(...switches.map((fault) => `context.${fault}`));
  } else if (context !== undefined && typeof context !== 'boolean') {
    faults.push('context must be true, false or an object of switches');
  }
  if (anonymous !== undefined && typeof anonymous !== 'boolean') faults.push('anonymous must be true or false');
  return faults;
}
