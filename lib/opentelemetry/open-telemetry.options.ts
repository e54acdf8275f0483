import type { MeterProvider, TracerProvider } from '@opentelemetry/api';

import { IfGiven, Must } from '../common/options.rules.js';

const hasMethod = (name: string) => (value: unknown) =>
  typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';

/** Options of `openTelemetry`. */
export class OpenTelemetryOptions {
  /** Creates the spans. Default: the global provider of `@opentelemetry/api`, which may be set later. */
  @IfGiven()
  @Must('be a tracer provider', hasMethod('getTracer'))
  tracerProvider?: TracerProvider;

  /** Receives the metrics. Default: the global provider of `@opentelemetry/api` when the application starts. */
  @IfGiven()
  @Must('be a meter provider', hasMethod('getMeter'))
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
  @Must('be true or false', (value) => typeof value === 'boolean')
  createSpans: boolean = false;

  /**
   * Name of the source in the spans of a client that sends to another process.
   * @default 'analytics'
   */
  @Must('be a non-empty string', (value) => typeof value === 'string' && value !== '')
  source: string = 'analytics';
}
