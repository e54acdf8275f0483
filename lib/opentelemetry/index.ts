/**
 * Traces and metrics through OpenTelemetry.
 *
 * @module nestjs-analytics-relay/opentelemetry
 */

export type { Telemetry } from '../common/telemetry/telemetry.interface.js';
export { openTelemetry } from './open-telemetry.js';
export type { OpenTelemetryOptions } from './open-telemetry.options.js';
