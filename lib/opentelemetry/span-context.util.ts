import {
  type Context,
  createTraceState,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

import { toTraceFields, type TraceFields } from '../client/telemetry/trace-context.js';
import { ERROR_TYPE } from './attributes.js';

/** The most links that the SDK keeps of a span. */
const MAX_LINKS = 128;

/** The context of the span that the fields name, which ended elsewhere. */
export function toSpanContext({ traceparent, tracestate }: TraceFields): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    traceState: tracestate === undefined ? undefined : createTraceState(tracestate),
    isRemote: true,
  };
}

export function toParent(fields: TraceFields): Context {
  return trace.setSpanContext(ROOT_CONTEXT, toSpanContext(fields));
}

export function toLinks(traces: readonly TraceFields[]): Link[] {
  return traces.slice(0, MAX_LINKS).map((fields) => ({ context: toSpanContext(fields) }));
}

/** The fields that name a span; undefined where no SDK made it. */
export function fieldsOf(span: Span): TraceFields | undefined {
  const context = span.spanContext();
  return isSpanContextValid(context) ? toTraceFields(context) : undefined;
}

/** Marks a span as failed. */
export function fail(span: Span, errorType: string, message?: string): void {
  span.setAttribute(ERROR_TYPE, errorType);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
