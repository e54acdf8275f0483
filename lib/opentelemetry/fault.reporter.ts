import { diag } from '@opentelemetry/api';

import { errorStack } from '../client/error.util.js';

/** Minimum time between two reports, in ms, because an error may repeat with every span. */
const PERIOD = 10_000;

/** Reports to OpenTelemetry's own log what samplers, span processors and metric views of the application throw. */
export class FaultReporter {
  private silentUntil = -Infinity;

  report(error: unknown): void {
    const now = performance.now();
    if (now < this.silentUntil) return;
    this.silentUntil = now + PERIOD;
    diag.error(`nestjs-analytics-relay: OpenTelemetry's SDK threw an error; delivery continues. ${errorStack(error)}`);
  }
}
