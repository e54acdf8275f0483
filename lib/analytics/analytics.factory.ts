import type { ModuleRef } from '@nestjs/core';

import { ValidationError } from '../client/index.js';
import { OptionsError } from '../common/options.error.js';
import { isPositiveNumber } from '../common/value.util.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { AnalyticsService } from './analytics.service.js';

const MODULE = 'AnalyticsModule';

/**
 * The instance that a module's options describe.
 * @throws {OptionsError} that names the option at fault and its rule.
 */
export function createAnalytics(options: AnalyticsModuleOptions, moduleRef: ModuleRef): AnalyticsService {
  const { shutdownTimeout } = options;
  if (shutdownTimeout !== undefined && !isPositiveNumber(shutdownTimeout)) {
    throw new OptionsError(MODULE, ['shutdownTimeout must be a number of milliseconds above 0']);
  }
  try {
    return new AnalyticsService(options, moduleRef);
  } catch (error) {
    throw error instanceof ValidationError ? new OptionsError(MODULE, [error.message]) : error;
  }
}
