export type { AnalyticsModuleExtras, AnalyticsModuleOptions } from './analytics-module-options.interface.js';
export type { AnalyticsModuleAsyncOptions } from './analytics.module-definition.js';
export { AnalyticsModule } from './analytics.module.js';
export { AnalyticsService } from './analytics.service.js';
export { getAnalyticsToken, InjectAnalytics } from './analytics.tokens.js';
export { Track } from './decorators/track.decorator.js';
export type {
  AnyMethod,
  CallContext,
  Mapped,
  RecordOptions,
  Result,
  TrackOptions,
} from './decorators/record-options.interface.js';
