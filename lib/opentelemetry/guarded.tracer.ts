import {
  type Attributes,
  type Context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';

import { toTraceFields, type TraceFields } from '../client/telemetry/trace-context.js';
import { ERROR_TYPE } from './attributes.js';
import { FaultReporter } from './fault.reporter.js';

/** Starts spans. Neither it nor the spans pass on what samplers and span processors of the application throw. */
export class GuardedTracer {
  private readonly faults = new FaultReporter();
  /** In place of a span that could not be started. */
  private readonly none = new GuardedSpan(trace.wrapSpanContext(INVALID_SPAN_CONTEXT), this.faults);

  constructor(private readonly tracer: Tracer) {}

  /** @param parent by default the active context */
  startSpan(name: string, options: SpanOptions, parent?: Context): GuardedSpan {
    try {
      return new GuardedSpan(this.tracer.startSpan(name, options, parent), this.faults);
    } catch (error) {
      this.faults.report(error);
      return this.none;
    }
  }
}

/** A span whose methods do not throw. */
export class GuardedSpan {
  /** Whether the span is recorded; unlike `isRecording()`, still true after its end. */
  readonly isRecorded: boolean;

  constructor(
    private readonly span: Span,
    private readonly faults: FaultReporter,
  ) {
    this.isRecorded = span.isRecording();
  }

  /** Whether the sampler wants the span to be exported. */
  get isSampled(): boolean {
    return ((this.context?.traceFlags ?? TraceFlags.NONE) & TraceFlags.SAMPLED) !== 0;
  }

  /** Fields that identify the span; undefined if no SDK created it. */
  get fields(): TraceFields | undefined {
    const { context } = this;
    return context && toTraceFields(context);
  }

  /** Returns a context in which the span is the active one. */
  activeIn(context: Context): Context {
    return trace.setSpan(context, this.span);
  }

  setAttributes(attributes: Attributes): void {
    try {
      this.span.setAttributes(attributes);
    } catch (error) {
      this.faults.report(error);
    }
  }

  fail(errorType: string, message?: string): void {
    try {
      this.span.setAttribute(ERROR_TYPE, errorType);
      this.span.setStatus({ code: SpanStatusCode.ERROR, message });
    } catch (error) {
      this.faults.report(error);
    }
  }

  end(): void {
    try {
      this.span.end();
    } catch (error) {
      this.faults.report(error);
    }
  }

  private get context(): SpanContext | undefined {
    try {
      const context = this.span.spanContext();
      return isSpanContextValid(context) ? context : undefined;
    } catch (error) {
      this.faults.report(error);
      return undefined;
    }
  }
}
