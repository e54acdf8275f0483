/**
 * Health of the relay for `@nestjs/terminus`.
 *
 * @module nestjs-analytics-relay/terminus
 */

export { RelayHealthIndicator, type RelayHealthOptions } from './relay-health.indicator.js';
