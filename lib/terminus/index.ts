/**
 * Health of the relay for `@nestjs/terminus`.
 *
 * @module nestjs-analytics-relay/terminus
 */

export { RelayHealthIndicator } from './relay-health.indicator.js';
export type { RelayHealthOptions } from './relay-health.options.js';
