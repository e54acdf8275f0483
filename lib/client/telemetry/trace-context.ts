import { contextManager } from './open-telemetry.global.js';

/** Fields of W3C Trace Context: what a message and a request carry of a trace. */
export interface TraceFields {
  traceparent: string;
  tracestate?: string | undefined;
}

/** The part of a span's context that is used. */
interface SpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
  traceState?: { serialize(): string } | undefined;
}

const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

/** Flag of a trace that is recorded. */
const SAMPLED = 1;

/** Version 00, neither of the ids zero, and recorded. */
const RECORDED = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f][13579bdf]$/;

/** A valid one, recorded or not. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Length of a `traceparent` of version 00. */
const LENGTH = 55;

/** The active span, read without a dependency; undefined where there is none, or its trace is not recorded. */
export function activeTrace(): TraceFields | undefined {
  const span = contextManager()?.active().getValue(SPAN) as { spanContext(): SpanContext } | undefined;
  const context = span?.spanContext();
  return context && (context.traceFlags & SAMPLED) === SAMPLED ? toTraceFields(context) : undefined;
}

/** A span's context as fields. */
export function toTraceFields({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceFields {
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags & SAMPLED}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

/** Whether a value is a `traceparent`. */
export function isTraceparent(value: unknown): value is string {
  return typeof value === 'string' && TRACEPARENT.test(value);
}

/** The fields as one text, which is stored; undefined where they name no recorded trace. */
export function toTraceText({ traceparent, tracestate }: TraceFields): string | undefined {
  if (!RECORDED.test(traceparent)) return undefined;
  return typeof tracestate === 'string' && TRACESTATE.test(tracestate) ? `${traceparent} ${tracestate}` : traceparent;
}

/** The fields of a stored text. */
export function fromTraceText(text: string): TraceFields {
  if (text.length <= LENGTH) return { traceparent: text };
  return { traceparent: text.slice(0, LENGTH), tracestate: text.slice(LENGTH + 1) };
}
