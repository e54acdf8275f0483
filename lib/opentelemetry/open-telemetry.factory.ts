import { OptionsError, throwFaults } from '../common/options.error.js';
import { findAbsence, findOptionFaults, toOptions } from '../common/options.rules.js';
import type { Telemetry } from '../common/telemetry/telemetry.interface.js';
import { OpenTelemetry } from './open-telemetry.js';
import { OpenTelemetryOptions } from './open-telemetry.options.js';

/**
 * Reports spans and metrics through OpenTelemetry. The result is for the option `telemetry` of `AnalyticsModule`,
 * `WebhookDestinationModule` and `Analytics`. Requires the package `@opentelemetry/api`, and an SDK that the
 * application sets up.
 *
 * @throws {OptionsError} naming each invalid option and its rule
 * @see docs/observability.md
 */
export function openTelemetry(given: Partial<OpenTelemetryOptions> = {}): Telemetry {
  const absence = findAbsence(given);
  if (absence.length > 0) throw new OptionsError('openTelemetry', absence);
  const options = toOptions(OpenTelemetryOptions, given);
  const faults = findOptionFaults(options);
  throwFaults('openTelemetry', faults);
  return new OpenTelemetry(options);
}
