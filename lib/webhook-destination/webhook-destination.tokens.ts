/** The module's options as the application gave them. */
export const MODULE_OPTIONS = Symbol.for('nestjs-analytics-relay:webhook-destination-module-options');

/** The options, checked and with their defaults. */
export const CHECKED_OPTIONS = Symbol.for('nestjs-analytics-relay:webhook-destination-options');

/** The admin API; undefined without the option `admin`. */
export const ADMIN_API = Symbol.for('nestjs-analytics-relay:admin-api');

/** The {@link RelayHealth}, for `nestjs-analytics-relay/terminus`. */
export const RELAY_HEALTH = Symbol.for('nestjs-analytics-relay:relay-health');

/** That the module's controller has its place. */
export const CONTROLLER_PLACED = Symbol.for('nestjs-analytics-relay:controller-placed');
