import type { HTTPClient, HTTPFetchFn } from './delivery/http-client.interface.js';
import type { EventDefaults } from './message/message.interface.js';
import type { BeforeSend, Plugin } from './pipeline/plugin.interface.js';
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
   * Base URL of the collection service, with `http:` or `https:`. It may include a path, which precedes `path`.
   *
   * @default 'http://localhost:3000'
   */
  host?: string | undefined;
  /**
   * Path of the collection endpoint, appended to `host`.
   *
   * @default '/v1/batch'
   */
  path?: string | undefined;
  /**
   * Maximum number of retries of a batch that fails with a retryable error.
   *
   * @default 3
   */
  maxRetries?: number | undefined;
  /**
   * Number of events in a full batch, which is sent immediately. 1 turns batching off.
   *
   * @default 15
   */
  maxEventsInBatch?: number | undefined;
  /** Alias of `maxEventsInBatch`; takes precedence if both are set. Default: not set. */
  flushAt?: number | undefined;
  /**
   * Milliseconds after which events are sent even if they do not fill a batch.
   *
   * @default 10_000
   */
  flushInterval?: number | undefined;
  /**
   * Time limit of one HTTP exchange, from connecting to the end of the response, in milliseconds. It also limits how
   * long events wait for a plugin to load, and how long each plugin handler may take.
   *
   * @default 10_000
   */
  httpRequestTimeout?: number | undefined;
  /**
   * Maximum number of events held in memory, including those in flight. At this limit, new events are refused: the
   * callback receives a `RelayError` with the code `queue_full`, and an `error` event is emitted.
   *
   * @default 100_000
   */
  maxQueueSize?: number | undefined;
  /**
   * Turns off HTTP requests, for tests. Every event counts as delivered; its callback and emitter event still fire.
   * Nothing is traced or counted.
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
   * Plugins to register at construction. `ready` is fulfilled when they have loaded.
   *
   * @default []
   * @see docs/client.md, "Plugins"
   */
  plugins?: Plugin[] | undefined;
  /**
   * Properties and context that are added to every event; fields of the event and of its ambient context take precedence.
   * Copied when the client is created.
   *
   * @default {}
   * @see docs/client.md, "Changing and sampling events"
   */
  defaults?: EventDefaults | undefined;
  /**
   * Changes or cancels each event before it is sent. Must be synchronous. If it throws, the event fails with the error
   * and is not sent. Default: none.
   * @see docs/client.md, "Changing and sampling events"
   */
  beforeSend?: BeforeSend | undefined;
  /**
   * Receives spans and metrics of recording and sending. Use `openTelemetry()` from
   * `nestjs-analytics-relay/opentelemetry`. Without it, the active OpenTelemetry span is still stored with each
   * message. Default: none.
   */
  telemetry?: ClientTelemetry | undefined;
}
