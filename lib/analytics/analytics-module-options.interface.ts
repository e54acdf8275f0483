import type { Telemetry } from '../common/telemetry/telemetry.interface.js';
import type { TransactionRunner } from '../common/transaction-runner.interface.js';
import type { AnalyticsSettings, HTTPClient, HTTPFetchFn } from '../client/index.js';
import type { AmbientOptions } from './context/ambient.options.js';
import type { TrackingPlanOptions } from './tracking-plan/tracking-plan.options.js';

/**
 * Options of `AnalyticsModule`, including the settings of `Analytics`. `undefined` selects the default; only `writeKey`
 * is required. Unknown options are refused.
 */
export interface AnalyticsModuleOptions extends AnalyticsSettings, AmbientOptions {
  /**
   * Milliseconds after which events are sent even if they do not fill a batch.
   *
   * @default 10_000; 0 (the end of the event loop turn) if `WebhookDestinationModule` of the same application receives
   * the events
   */
  flushInterval?: number | undefined;
  /**
   * Makes the HTTP requests: a function such as `fetch`, or an object with `makeRequest`.
   *
   * @default `keepAliveHttpClient()`
   * @see docs/client.md, "HTTP clients"
   */
  httpClient?: HTTPFetchFn | HTTPClient | undefined;
  /**
   * What `AnalyticsService` does with a message that breaks a rule: `'throw'` throws a `ValidationError`, `'log'` logs a
   * warning. A message without a user is always logged outside an HTTP request. Both are counted and passed to the
   * callback when they are logged.
   *
   * @default 'throw'
   * @see docs/contexts.md, "Messages that are refused"
   */
  onInvalid?: 'throw' | 'log' | undefined;
  /**
   * Milliseconds that the shutdown waits for queued events to be delivered. Events that are not delivered by then are
   * dropped, and their number is logged.
   *
   * @default 10_000
   */
  shutdownTimeout?: number;
  /**
   * Release of the application, 1 to 200 characters. A relay in the same process stores it with each event, shows it and
   * finds events by it; it is not sent to receivers. Default: the version in the application's package.json, if npm (or
   * pnpm, or Yarn) has started the process: `npm_package_version`.
   */
  release?: string;
  /**
   * Event classes that track events are checked against, and the policy for violations. Events recorded with a class
   * are always checked.
   *
   * @default { events: [], violations: 'warn' }
   * @see docs/typed-events.md, "Checked at run time"
   */
  trackingPlan?: TrackingPlanOptions;
  /**
   * With `'cls'`, events that are recorded inside a method under `@Transactional()` of `@nestjs-cls/transactional` take
   * part in its transaction, on the default connection. Needs `postgresQueue()` in the same database. Default: none.
   * @see docs/transactions.md, "@Transactional()"
   */
  transactions?: 'cls' | undefined;
  /**
   * Returns what runs statements in a transaction that `AnalyticsService.inTransaction()` gets: for packages that
   * are not recognised. Default: none.
   * @see docs/transactions.md, "Any other package"
   */
  transactionRunner?: ((tx: unknown) => TransactionRunner) | undefined;
  /**
   * Receives spans and metrics of recording and sending. Use `openTelemetry()` from
   * `nestjs-analytics-relay/opentelemetry`. Without it, the active OpenTelemetry span is still stored with each
   * message. Default: none.
   * @see docs/observability.md, "Traces"
   */
  telemetry?: Telemetry | undefined;
}
