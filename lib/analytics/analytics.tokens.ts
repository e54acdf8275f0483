import { Inject, type Type } from '@nestjs/common';

import { processWide } from '../common/process-wide.util.js';
import { AnalyticsService } from './analytics.service.js';
import { refuseStandardDecorator } from './decorators/method.wrapper.js';
import { DEFAULT_INSTANCE } from './instance.options.js';

/** Options of one `AnalyticsModule`. */
export const ANALYTICS_OPTIONS = Symbol.for('nestjs-analytics-relay:analytics-module-options');

/**
 * Injection token of an instance: the class `AnalyticsService` for the default instance, a symbol for a named instance.
 */
export type AnalyticsToken = Type<AnalyticsService> | symbol;

const NAMED = 'nestjs-analytics-relay:analytics:';

/**
 * Returns the injection token of an instance, by default of the default instance. Both builds of the package share it.
 */
export function getAnalyticsToken(name: string = DEFAULT_INSTANCE): AnalyticsToken {
  if (name !== DEFAULT_INSTANCE) return Symbol.for(NAMED + name);
  return processWide('analytics-service', () => AnalyticsService);
}

/** Returns the name of the instance that a token identifies; undefined for any other token. */
export function instanceNameOf(token: unknown): string | undefined {
  if (token === getAnalyticsToken()) return DEFAULT_INSTANCE;
  const key = typeof token === 'symbol' ? Symbol.keyFor(token) : undefined;
  return key?.startsWith(NAMED) ? key.slice(NAMED.length) : undefined;
}

/** Injects the instance with this name; without a name, the default instance. */
export function InjectAnalytics(name?: string): PropertyDecorator & ParameterDecorator {
  const inject = Inject(getAnalyticsToken(name));
  return (target, key, index?: number) => {
    refuseStandardDecorator(key);
    inject(target, key, index!); // absent for a property
  };
}
