import type { HttpAdapterHost, ModuleRef } from '@nestjs/core';

import { ValidationError } from '../client/index.js';
import { OptionsError } from '../common/options.error.js';
import { findOptionFaults, toOptions } from '../common/options.rules.js';
import { isPositiveNumber } from '../common/value.util.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { AnalyticsService } from './analytics.service.js';
import { ContextOptions } from './context/context.options.js';
import { openScopePerRequest } from './context/scope.mount.js';

const MODULE = 'AnalyticsModule';

/**
 * The instance that a module's options describe.
 * @throws {OptionsError} that names the option at fault and its rule.
 */
export function createAnalytics(
  options: AnalyticsModuleOptions,
  moduleRef: ModuleRef,
  adapterHost: HttpAdapterHost,
): AnalyticsService {
  const faults = findFaults(options);
  if (faults.length > 0) throw new OptionsError(MODULE, faults);
  try {
    const analytics = new AnalyticsService(options, moduleRef);
    openScopePerRequest(adapterHost);
    return analytics;
  } catch (error) {
    throw error instanceof ValidationError ? new OptionsError(MODULE, [error.message]) : error;
  }
}

/** What is wrong with the options that `Analytics` knows nothing of. */
function findFaults({ shutdownTimeout, identity, context }: AnalyticsModuleOptions): string[] {
  const faults: string[] = [];
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
  return faults;
}
