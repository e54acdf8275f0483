import type { Telemetry } from '../common/telemetry/telemetry.interface.js';
import type { AnalyticsSettings } from '../client/index.js';
import type { AmbientOptions } from './context/ambient.options.js';
import type { TrackingPlanOptions } from './tracking-plan/tracking-plan.options.js';

/**
 * Options of `AnalyticsModule`, including the settings of `Analytics`. `undefined` stands for the default; only `writeKey`
 * has none. Unknown options are refused.
 */
export interface AnalyticsModuleOptions extends AnalyticsSettings, AmbientOptions {
  /**
   * Milliseconds after which events are sent even when they do not fill a batch.
   *
   * @default 10_000; 0 (the end of the turn of the event loop) if `WebhookDestinationModule` of the same application gets the events
   */
  flushInterval?: number | undefined;
  /**
   * How long the shutdown waits for queued events to be delivered, in ms. Events that are not delivered by then are
   * dropped, and their number is logged.
   *
   * @default 10_000
   */
  shutdownTimeout?: number;
  /**
   * The event classes that track events are checked against, and what happens to an event that breaks its class.
   * Events recorded as a class are checked in any case.
   *
   * @default { events: [], violations: 'warn' }
   * @see docs/typed-events.md, "Checked at run time"
   */
  trackingPlan?: TrackingPlanOptions;
  /**
   * Receives spans and metrics of recording and sending: `openTelemetry()` of `nestjs-analytics-relay/opentelemetry`.
   * Without it, the active span of OpenTelemetry is still stored with each message. Default: none.
   * @see docs/observability.md, "Traces"
   */
  telemetry?: Telemetry | undefined;
}
