import type { MeterProvider, TracerProvider } from '@opentelemetry/api';

import { hasMethods } from '../client/telemetry/client-telemetry.interface.js';
import { IfGiven, Must, MustBeBoolean } from '../common/options.rules.js';
import { isNonEmptyString } from '../common/value.util.js';

/** Options of `openTelemetry`. */
export class OpenTelemetryOptions {
  /** Creates the spans. Default: the global provider of `@opentelemetry/api`, which may be set later. */
  @IfGiven()
  @Must('be a tracer provider', (value) => hasMethods(value, ['getTracer']))
  tracerProvider?: TracerProvider;

  /** Receives the metrics. Default: the global provider of `@opentelemetry/api` when the application starts. */
  @IfGiven()
  @Must('be a meter provider', (value) => hasMethods(value, ['getMeter']))
  meterProvider?: MeterProvider;

  /**
   * How the span of a delivery attempt relates to the trace in which its message was recorded. `'link'` starts a new
   * trace with a link to that trace; `'child'` adds a child span, which is recorded if that trace is.
   * @default 'link'
   */
  @Must("be 'link' or 'child'", (value) => value === 'link' || value === 'child')
  attempts: 'link' | 'child' = 'link';

  /**
   * Whether each recorded message gets its own span, `create {source}`.
   * @default false
   */
  @MustBeBoolean()
  createSpans: boolean = false;

  /**
   * Name of the source in the spans of a client that sends to another process.
   * @default 'analytics'
   */
  @Must('be a non-empty string', isNonEmptyString)
  source: string = 'analytics';
}
