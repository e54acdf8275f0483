import { Inject } from '@nestjs/common';

/** Name of the instance that is used where no other is named. */
export const DEFAULT_INSTANCE = 'default';

/** Options of one `AnalyticsModule`. */
export const ANALYTICS_OPTIONS = Symbol.for('nestjs-analytics-relay:analytics-module-options');

/** The injection token of an instance; the same for both builds of the package. */
export function getAnalyticsToken(name: string = DEFAULT_INSTANCE): symbol {
  return Symbol.for(`nestjs-analytics-relay:analytics:${name}`);
}

/** Injects the instance of this name; without one, the default instance. */
export function InjectAnalytics(name?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getAnalyticsToken(name));
}
