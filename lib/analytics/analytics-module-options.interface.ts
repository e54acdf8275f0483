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
   * @default 10_000; 0 (the end of the turn) in an application whose `WebhookDestinationModule` gets the events
   */
  flushInterval?: number | undefined;
  /**
   * How long the application waits at shutdown for queued events to be delivered, in ms.
   * What is not delivered by then is dropped, and logged with its count.
   *
   * @default 10_000
   */
  shutdownTimeout?: number;
  /**
   * The event classes that track events are checked against, and what happens to an event that breaks its class.
   *
   * @default only events recorded as a class are checked, and a violation is logged
   */
  trackingPlan?: TrackingPlanOptions;
  /**
   * Receives spans and figures of recording and sending: `openTelemetry()` of `nestjs-analytics-relay/opentelemetry`.
   *
   * @default nothing does; the active span of OpenTelemetry is stored with each message all the same
   */
  telemetry?: Telemetry | undefined;
}
