import type { AnalyticsSettings } from '../client/index.js';
import { findSettingFaults, SETTING_NAMES } from '../client/settings.rules.js';
import { OptionsError, throwFaults } from '../common/options.error.js';
import {
  findAbsence,
  findOptionFaults,
  IfGiven,
  Known,
  Must,
  MustNest,
  NextToFactory,
  toOptions,
} from '../common/options.rules.js';
import { isNonEmptyString, isPositiveNumber } from '../common/value.util.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { CheckedAmbientOptions, toContextOptions } from './context/ambient.options.js';
import { type AnalyticsModuleExtras, InstanceOptions } from './instance.options.js';
import { findEventFaults, PlanOptions } from './tracking-plan/tracking-plan.options.js';

/** Maximum length of a release, in characters. */
const MAX_RELEASE = 200;

const isRelease = (value: unknown) => isNonEmptyString(value) && value.length <= MAX_RELEASE;

/** Returns the version that npm found in the application's package.json; undefined if npm has not started the process. */
function ofNpm(): string | undefined {
  const version = process.env.npm_package_version;
  return isRelease(version) ? version : undefined;
}

/** Rules and defaults of the options that are not settings of `Analytics`. */
class ModuleOptions extends CheckedAmbientOptions {
  @Must('be a number of milliseconds above 0', isPositiveNumber)
  shutdownTimeout: number = 10_000;

  @IfGiven()
  @Must('be a string of 1 to 200 characters', isRelease)
  release: string | undefined = ofNpm();

  @Must("be 'throw' or 'log'", (value) => value === 'throw' || value === 'log')
  onInvalid: 'throw' | 'log' = 'throw';

  @IfGiven()
  @Must("be 'cls'", (value) => value === 'cls')
  transactions: 'cls' | undefined = undefined;

  @IfGiven()
  @Must('be a function', (value) => typeof value === 'function')
  transactionRunner: AnalyticsModuleOptions['transactionRunner'] = undefined;

  @MustNest('be an object')
  trackingPlan: PlanOptions = new PlanOptions();

  @NextToFactory()
  name?: never;

  @NextToFactory()
  isGlobal?: never;
}

// `findSettingFaults` checks their rules.
for (const name of SETTING_NAMES) Known()(ModuleOptions.prototype, name);

/** Validated options of one instance; those of the module have their defaults. */
export type CheckedAnalyticsOptions = AnalyticsSettings &
  Pick<AnalyticsModuleOptions, 'telemetry'> &
  Omit<ModuleOptions, keyof InstanceOptions> &
  InstanceOptions;

/**
 * Validates the options and applies the defaults.
 * @throws {OptionsError} that names each invalid option and its rule.
 */
export function checkOptions(given: AnalyticsModuleOptions, extras: AnalyticsModuleExtras): CheckedAnalyticsOptions {
  const instance = toOptions(InstanceOptions, extras);
  const absence = findAbsence(given);
  if (absence.length > 0) throw new OptionsError('AnalyticsModule', [...absence, ...findOptionFaults(instance)]);

  const options = toOptions(ModuleOptions, given);
  options.context = toContextOptions(given.context);
  options.trackingPlan = toOptions(PlanOptions, given.trackingPlan);

  const faults = [
    ...findSettingFaults(given),
    ...findOptionFaults(options),
    ...findEventFaults(options.trackingPlan?.events),
    ...findOptionFaults(instance),
  ];
  throwFaults('AnalyticsModule', faults);
  return { ...given, ...options, ...instance };
}
