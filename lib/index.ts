/**
 * The modules, decorators and functions of an application with NestJS.
 *
 * @module nestjs-analytics-relay
 */

export * from './analytics/index.js';
// The names of `nestjs-analytics-relay/client` that are too general for this entry point are longer here.
export { Context as EventContext, ContextCancelation as EventCancelation } from './client/index.js';
export type {
  Callback as AnalyticsCallback,
  Listener as AnalyticsListener,
  Plugin as AnalyticsPlugin,
  PluginHandler as AnalyticsPluginHandler,
  PluginType as AnalyticsPluginType,
} from './client/index.js';
export * from './client/root.index.js';
export {
  AddressNotAllowedError,
  ArgumentError,
  ClosedError,
  PackageError,
  PartlyAcceptedError,
  QueueFullError,
  QueueUnavailableError,
  TransactionError,
  UnknownWriteKeyError,
} from './common/relay.errors.js';
export type { TransactionRunner } from './common/transaction-runner.interface.js';
export * from './webhook-destination/index.js';
