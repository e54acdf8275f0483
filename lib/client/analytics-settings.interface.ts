import type { HTTPClient, HTTPFetchFn } from './delivery/http-client.interface.js';
import type { Plugin } from './pipeline/plugin.interface.js';
import type { ClientTelemetry } from './telemetry/client-telemetry.interface.js';

/**
 * Settings of {@link Analytics}. Unknown settings are ignored.
 *
 * @see docs/specification.md, "Client settings"
 */
export interface AnalyticsSettings {
  /** Write key of the source that the events belong to. */
  writeKey: string;
  /**
   * Base URL of the collection service, with `http:` or `https:`. It may have a path, which precedes `path`.
   *
   * @default 'http://localhost:3000'
   */
  host?: string | undefined;
  /**
   * Path of the collection endpoint, after that of `host`.
   *
   * @default '/v1/batch'
   */
  path?: string | undefined;
  /**
   * Retries of a batch that failed with a retryable error.
   *
   * @default 3
   */
  maxRetries?: number | undefined;
  /**
   * Events in a full batch, which is sent at once; 1 turns batching off.
   *
   * @default 15
   */
  maxEventsInBatch?: number | undefined;
  /** Alias of `maxEventsInBatch`; takes precedence where both are given. Default: not set. */
  flushAt?: number | undefined;
  /**
   * Milliseconds after which events are sent even when they do not fill a batch.
   *
   * @default 10_000
   */
  flushInterval?: number | undefined;
  /**
   * Milliseconds that one HTTP exchange may take, from the connection to the end of the response. It also limits the
   * loading of a plugin that an event waits for, and each handler of a plugin.
   *
   * @default 10_000
   */
  httpRequestTimeout?: number | undefined;
  /**
   * Events held in memory, in flight included. At this limit, new events are refused:
   * the callback receives a `RelayError` with the code `queue_full`, and an `error` event is emitted.
   *
   * @default 100_000
   */
  maxQueueSize?: number | undefined;
  /**
   * Makes no HTTP requests: every event counts as delivered, with its callback and emitter event. For tests.
   *
   * @default false
   */
  disable?: boolean | undefined;
  /**
   * Makes the HTTP requests: a function such as `fetch`, or an object with `makeRequest`.
   *
   * @default the global `fetch`; `keepAliveHttpClient()` on a Node without `fetch`
   * @see docs/client.md, "HTTP clients"
   */
  httpClient?: HTTPFetchFn | HTTPClient | undefined;
  /**
   * Plugins to register at construction. `ready` is fulfilled when they are loaded.
   *
   * @default []
   * @see docs/client.md, "Plugins"
   */
  plugins?: Plugin[] | undefined;
  /**
   * Receives spans and metrics of recording and sending: `openTelemetry()` of `nestjs-analytics-relay/opentelemetry`.
   * Without it, the active span of OpenTelemetry is still stored with each message. Default: none.
   */
  telemetry?: ClientTelemetry | undefined;
}
