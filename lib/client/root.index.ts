// The names that the package's root exports unchanged.
export { Analytics } from './analytics.js';
export type { AnalyticsBase, CloseAndFlushParams, FlushParams } from './analytics-base.js';
export type { AnalyticsSettings } from './analytics-settings.interface.js';
export { FetchHTTPClient } from './delivery/fetch.http-client.js';
export type {
  HTTPClient,
  HTTPClientRequest,
  HTTPFetchFn,
  HTTPFetchRequest,
  HTTPHeaders,
  HTTPResponse,
} from './delivery/http-client.interface.js';
export {
  keepAliveHttpClient,
  type KeepAliveHTTPClient,
  type KeepAliveOptions,
} from './delivery/keep-alive.http-client.js';
export type { ErrorCode } from './error.codes.js';
export type { AnalyticsEvents, EmittedError, HttpRequestInfo, HttpResponseInfo } from './event/analytics.emitter.js';
export * from './message/message.interface.js';
export { ValidationError } from './message/validation.error.js';
export { OptionsError } from './options.error.js';
export type { BeforeSend } from './pipeline/plugin.interface.js';
export type { AnalyticsClient } from './pipeline/analytics-client.interface.js';
export { RelayError } from './relay.error.js';
export { VERSION } from './version.js';
