import { type Context, createTraceState, type Link, ROOT_CONTEXT, type SpanContext, trace } from '@opentelemetry/api';

import type { TraceFields } from '../client/telemetry/trace-context.js';

/** Maximum number of links that the SDK keeps for a span. */
const MAX_LINKS = 128;

/** Returns the context of the remote span that the fields identify. */
function toSpanContext({ traceparent, tracestate }: TraceFields): SpanContext {
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
