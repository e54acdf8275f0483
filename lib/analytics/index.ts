export type { AnalyticsModuleExtras, AnalyticsModuleOptions } from './analytics-module-options.interface.js';
export type { AnalyticsModuleAsyncOptions } from './analytics.module-definition.js';
export { AnalyticsModule } from './analytics.module.js';
export { AnalyticsService } from './analytics.service.js';
export { getAnalyticsToken, InjectAnalytics } from './analytics.tokens.js';
export { Track } from './decorators/track.decorator.js';
export type { PlannedTrackOptions, TrackArguments } from './decorators/track.decorator.js';
export type {
  AnyMethod,
  CallContext,
  Mapped,
  RecordOptions,
  Result,
  TrackOptions,
} from './decorators/record-options.interface.js';
export { defineEvent, TrackedEvent } from './tracking-plan/tracked-event.decorator.js';
export type { SchemaEventClass, TrackedEventOptions } from './tracking-plan/tracked-event.decorator.js';
export type * from './tracking-plan/standard-schema.interface.js';
export type * from './tracking-plan/tracking-plan.interface.js';
export type { PlanViolations, TrackingPlanOptions } from './tracking-plan/tracking-plan.options.js';
