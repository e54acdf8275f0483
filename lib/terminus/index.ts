export { RelayHealthIndicator } from './relay-health.indicator.js';
export type { RelayHealthOptions } from './relay-health.options.js';
