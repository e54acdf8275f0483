/** The module's options as the application gave them. */
export const MODULE_OPTIONS = Symbol.for('nestjs-analytics-relay:webhook-destination-module-options');

/** The options, checked and with their defaults. */
export const CHECKED_OPTIONS = Symbol.for('nestjs-analytics-relay:webhook-destination-options');

/** The queue of deliveries. */
export const DELIVERY_QUEUE = Symbol.for('nestjs-analytics-relay:delivery-queue');

/** That the module's controllers have their places. */
export const CONTROLLERS_PLACED = Symbol.for('nestjs-analytics-relay:controllers-placed');
