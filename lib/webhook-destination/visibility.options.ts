import { MustBeBoolean } from '../common/options.rules.js';

/** Visibility of the module, with its rule and default. */
export class VisibilityOptions {
  /**
   * Whether every module can inject `WebhookDestinationService`. With `false`, only modules that import this one can.
   *
   * @default true
   */
  @MustBeBoolean()
  isGlobal: boolean = true;
}

/** Arguments of `forRoot` and `forRootAsync` in addition to the options. */
export type WebhookDestinationModuleExtras = Partial<VisibilityOptions>;
