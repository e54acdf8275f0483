import type { FactoryProvider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';

import { ValidationError } from '../client/index.js';
import { OptionsError } from '../common/options.error.js';
import { isPositiveNumber } from '../common/value.util.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { AnalyticsService } from './analytics.service.js';
import { ANALYTICS_OPTIONS, getAnalyticsToken } from './analytics.tokens.js';
import { findPlanFaults } from './tracking-plan/tracking-plan.options.js';

const MODULE = 'AnalyticsModule';

/** Provides the instance of this name, as an object of this class. */
export function provideAnalytics(name: string | undefined, Service = AnalyticsService): FactoryProvider {
  return {
    provide: getAnalyticsToken(name),
    useFactory: (options: AnalyticsModuleOptions, moduleRef: ModuleRef) => createAnalytics(Service, options, moduleRef),
    inject: [ANALYTICS_OPTIONS, ModuleRef],
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
  const { shutdownTimeout, trackingPlan } = options;
  const faults = findPlanFaults(trackingPlan);
  if (shutdownTimeout !== undefined && !isPositiveNumber(shutdownTimeout)) {
    faults.push('shutdownTimeout must be a number of milliseconds above 0');
  }
  if (faults.length > 0) throw new OptionsError(MODULE, faults);
  try {
    return new Service(options, moduleRef);
  } catch (error) {
    throw error instanceof ValidationError ? new OptionsError(MODULE, [error.message]) : error;
  }
}
