/** Value of `messaging.system` in spans and metrics. */
export const SYSTEM = 'nestjs_analytics_relay';
