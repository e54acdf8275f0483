export type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
export type { AnalyticsModuleAsyncOptions } from './analytics.module-definition.js';
export { AnalyticsModule } from './analytics.module.js';
export { AnalyticsService } from './analytics.service.js';
export { type AnalyticsToken, getAnalyticsToken, InjectAnalytics } from './analytics.tokens.js';
export { type AmbientFields, AnalyticsContext, type AmbientContext } from './context/analytics-context.js';
export { AnalyticsScope } from './context/analytics-scope.decorator.js';
export { AnalyticsContextInterceptor } from './context/analytics-context.interceptor.js';
export type { AmbientId, AmbientIdentity, IdentityResolver } from './context/ambient-identity.js';
export type { AmbientOptions, ContextOptions } from './context/ambient.options.js';
export type { AmbientParams } from './context/ambient-params.interface.js';
export type { AnalyticsRequest } from './context/analytics-request.interface.js';
export { Alias, Group, Identify, Page, Screen } from './decorators/message.decorators.js';
export { type PlannedTrackOptions, Track, type TrackArguments } from './decorators/track.decorator.js';
export type { AnalyticsTransaction } from './analytics-transaction.js';
export type { AnalyticsModuleExtras } from './instance.options.js';
export type {
  AliasOptions,
  RecordedMethod,
  CallContext,
  GroupOptions,
  IdentifyOptions,
  MappedField,
  MappedId,
  PageOptions,
  PlainValue,
  RecordOptions,
  MethodResult,
  TrackOptions,
} from './decorators/record-options.interface.js';
export {
  defineEvent,
  type SchemaEventClass,
  TrackedEvent,
  type TrackedEventOptions,
} from './tracking-plan/tracked-event.decorator.js';
export type { EventClass } from '../common/event-class/event-definition.js';
export type * from '../common/event-class/standard-schema.interface.js';
export type * from './tracking-plan/tracking-plan.interface.js';
export type { PlanViolations, TrackingPlanOptions } from './tracking-plan/tracking-plan.options.js';
