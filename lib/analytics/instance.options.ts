import { Must } from '../common/options.rules.js';
import { isNonEmptyString } from '../common/value.util.js';

/** Name of the instance that is used where no other is named. */
export const DEFAULT_INSTANCE = 'default';

/** Where an instance is found: rules and defaults. */
export class InstanceOptions {
  /**
   * Name of the instance, for an application that has several: inject it with `@InjectAnalytics(name)`.
   *
   * @default the default instance, injected as `AnalyticsService`
   */
  @Must('be a non-empty string', isNonEmptyString)
  name: string = DEFAULT_INSTANCE;

  /**
   * Whether every module can inject the instance; the decorators find it in modules that can.
   *
   * @default true
   */
  @Must('be true or false', (value) => typeof value === 'boolean')
  isGlobal: boolean = true;
}

/** Arguments of `forRoot` and `forRootAsync` beside the options. */
export type AnalyticsModuleExtras = Partial<InstanceOptions>;
