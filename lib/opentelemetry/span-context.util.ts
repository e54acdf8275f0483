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

/** Maximum number of links that the SDK keeps for a span. */
const MAX_LINKS = 128;

/** Returns the context of the remote span that the fields identify. */
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

/** Returns the fields that identify a span; undefined if no SDK created it. */
export function fieldsOf(span: Span): TraceFields | undefined {
  const context = span.spanContext();
  return isSpanContextValid(context) ? toTraceFields(context) : undefined;
}

export function fail(span: Span, errorType: string, message?: string): void {
  span.setAttribute(ERROR_TYPE, errorType);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
