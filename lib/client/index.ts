export { Analytics } from './analytics.js';
export type { CloseAndFlushParams, FlushParams } from './analytics.js';
export type { AnalyticsSettings } from './analytics-settings.interface.js';
export type { Callback } from './delivery/event.ledger.js';
export { FetchHTTPClient } from './delivery/fetch.http-client.js';
export type {
  HTTPClient,
  HTTPClientRequest,
  HTTPFetchFn,
  HTTPFetchRequest,
  HTTPHeaders,
  HTTPResponse,
} from './delivery/http-client.interface.js';
export { keepAliveHttpClient } from './delivery/keep-alive.http-client.js';
export type { KeepAliveOptions } from './delivery/keep-alive.http-client.js';
export type * from './message/message.interface.js';
export { ValidationError } from './message/validation.error.js';
export type {
  AnalyticsEvents,
  EmittedError,
  HttpRequestInfo,
  HttpResponseInfo,
  Listener,
} from './pipeline/analytics.emitter.js';
export { Context, ContextCancelation } from './pipeline/context.js';
export type { LogLevel, LogMessage } from './pipeline/context.js';
export type { Plugin, PluginHandler, PluginType } from './pipeline/plugin.interface.js';
export { RelayError } from './relay.error.js';
export { VERSION } from './version.js';
