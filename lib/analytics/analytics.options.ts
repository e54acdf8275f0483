import { ValidateNested } from 'class-validator';

import type { AnalyticsSettings } from '../client/index.js';
import { findSettingFaults, SETTING_NAMES } from '../client/settings.rules.js';
import { OptionsError } from '../common/options.error.js';
import { findAbsence, findOptionFaults, Must, MustIfPresent, toOptions } from '../common/options.rules.js';
import { isNonEmptyString, isPositiveNumber } from '../common/value.util.js';
import type { AnalyticsModuleExtras, AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { DEFAULT_INSTANCE } from './analytics.tokens.js';
import { CheckedAmbientOptions, toContextOptions } from './context/ambient.options.js';
import { findEventFaults, PlanOptions } from './tracking-plan/tracking-plan.options.js';

const BESIDE_FACTORY = 'stand beside useFactory, and not in the options that it returns';

/** The rules and defaults of the options that `Analytics` knows nothing of. */
class ModuleOptions extends CheckedAmbientOptions {
  @Must('be a number of milliseconds above 0', isPositiveNumber)
  shutdownTimeout: number = 10_000;

  @ValidateNested({ message: 'must be an object' })
  trackingPlan: PlanOptions = new PlanOptions();

  // The module must know these two before a factory runs.
  @MustIfPresent(BESIDE_FACTORY, () => false)
  name?: never;

  @MustIfPresent(BESIDE_FACTORY, () => false)
  isGlobal?: never;
}

/** The rules of what says where an instance is found. */
class InstanceOptions {
  @Must('be a non-empty string', isNonEmptyString)
  name: string = DEFAULT_INSTANCE;

  @Must('be true or false', (value) => typeof value === 'boolean')
  isGlobal: boolean = true;
}

/** The options of one instance, checked; those of the module with their defaults. */
export type CheckedAnalyticsOptions = AnalyticsSettings & ModuleOptions;

/**
 * The options with their defaults.
 * @throws {OptionsError} that names each option at fault and its rule.
 */
export function checkOptions(given: AnalyticsModuleOptions, extras: AnalyticsModuleExtras): CheckedAnalyticsOptions {
  const absence = findAbsence(given);
  const [settings, others] = splitSettings(absence.length > 0 ? {} : given);
  const options = toOptions(ModuleOptions, others);
  options.context = toContextOptions(others.context);
  options.trackingPlan = toOptions(PlanOptions, others.trackingPlan);

  const faults = [
    ...absence,
    ...findSettingFaults(settings).map(({ message }) => message),
    ...findOptionFaults(options),
    ...findEventFaults(options.trackingPlan?.events),
    ...findOptionFaults(toOptions(InstanceOptions, extras)),
  ];
  if (faults.length > 0) throw new OptionsError('AnalyticsModule', faults);
  return { ...settings, ...options };
}

/** The settings of `Analytics`, and all else that was given. */
function splitSettings(given: object): [AnalyticsSettings, Record<string, unknown>] {
  const isSetting = ([name]: [string, unknown]) => (SETTING_NAMES as string[]).includes(name);
  const entries = Object.entries(given) as [string, unknown][];
  const settings = Object.fromEntries(entries.filter(isSetting)) as unknown as AnalyticsSettings;
  return [settings, Object.fromEntries(entries.filter((entry) => !isSetting(entry)))];
}
