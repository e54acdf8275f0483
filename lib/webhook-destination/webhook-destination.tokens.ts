/** The module's options as the application gave them. */
export const MODULE_OPTIONS = Symbol.for('nestjs-analytics-relay:webhook-destination-module-options');

/** The options after validation, with defaults filled in. */
export const CHECKED_OPTIONS = Symbol.for('nestjs-analytics-relay:webhook-destination-options');

/** The {@link RelayHealth}, for `nestjs-analytics-relay/terminus`. */
export const RELAY_HEALTH = Symbol.for('nestjs-analytics-relay:relay-health');

/** The {@link RelaySteps}, once the module's controller has its routes; undefined for an import without options. */
export const PLACED_STEPS = Symbol.for('nestjs-analytics-relay:placed-steps');
