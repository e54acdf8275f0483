import type { HTTPClient, HTTPFetchFn } from './delivery/http-client.interface.js';
import type { Plugin } from './pipeline/plugin.interface.js';

/** Settings of {@link Analytics} (§8). Settings of other clients that are not listed here are ignored. */
export interface AnalyticsSettings {
  /** Key of the source that the events belong to (§5.2). */
  writeKey: string;
  /**
   * Base URL of the collection service, with `http:` or `https:`. It may have a path, which goes before `path`.
   *
   * @default 'http://localhost:3000'
   */
  host?: string | undefined;
  /**
   * Path of the collection endpoint (§4.2).
   *
   * @default '/v1/batch'
   */
  path?: string | undefined;
  /**
   * How often a batch is sent again after a failure that may pass (§7).
   *
   * @default 3
   */
  maxRetries?: number | undefined;
  /**
   * Events that make a batch, which is then sent at once; 1 turns batching off.
   *
   * @default 15
   */
  maxEventsInBatch?: number | undefined;
  /** Another name of `maxEventsInBatch`, and stronger where both are given. */
  flushAt?: number | undefined;
  /**
   * Milliseconds after which events are sent even though they do not make a batch.
   *
   * @default 10_000
   */
  flushInterval?: number | undefined;
  /**
   * Milliseconds that one HTTP exchange may take, from the connection to the end of the response. An event waits as long
   * at most for a plugin to load, and for a plugin's handler to return.
   *
   * @default 10_000
   */
  httpRequestTimeout?: number | undefined;
  /**
   * Events held in memory, in flight included. When they are so many, the newest event is refused:
   * its callback receives an error, and an `error` event is emitted.
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
   * What makes the HTTP requests: a function such as `fetch`, or an object with `makeRequest` (§4.5).
   *
   * @default the global `fetch`; `keepAliveHttpClient()` where there is none
   */
  httpClient?: HTTPFetchFn | HTTPClient | undefined;
  /**
   * Plugins to register at construction (§4.4). `ready` tells when they are loaded.
   *
   * @default []
   */
  plugins?: Plugin[] | undefined;
}
