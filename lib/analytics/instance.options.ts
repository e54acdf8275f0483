import { Must, MustBeBoolean } from '../common/options.rules.js';
import { isNonEmptyString } from '../common/value.util.js';

/** Name of the instance that is used if no name is given. */
export const DEFAULT_INSTANCE = 'default';

/** Name and visibility of an instance, with rules and defaults. */
export class InstanceOptions {
  /**
   * Name of the instance, for an application that has several. Inject it with `@InjectAnalytics(name)`. Two instances
   * may share a name only if neither is global and no module imports both.
   *
   * @default the default instance, injected as `AnalyticsService`
   */
  @Must('be a non-empty string', isNonEmptyString)
  name: string = DEFAULT_INSTANCE;

  /**
   * Whether every module can inject the instance. Decorators only work in modules that can.
   *
   * @default true
   */
  @MustBeBoolean()
  isGlobal: boolean = true;
}

/** Arguments of `forRoot` and `forRootAsync` in addition to the options. */
export type AnalyticsModuleExtras = Partial<InstanceOptions>;
