import { contextManager, SPAN } from './open-telemetry.global.js';

/** W3C Trace Context fields that a message or a request carries. */
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

/** Flag of a recorded trace. */
const SAMPLED = 1;

/**
 * A recorded `traceparent` whose ids are not zero. Later versions may have more fields.
 *
 * @see https://www.w3.org/TR/trace-context/#versioning-of-traceparent
 */
const RECORDED = /^(?!ff|00.{54})[0-9a-f]{2}-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f][13579bdf])(?:-|$)/;

const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Length of a `traceparent` of version 00. */
const LENGTH = 55;

/** Returns the active span's fields, without depending on OpenTelemetry; undefined if no recorded trace is active. */
export function activeTrace(): TraceFields | undefined {
  const span = contextManager()?.active().getValue(SPAN) as { spanContext(): SpanContext } | undefined;
  const context = span?.spanContext();
  return context && (context.traceFlags & SAMPLED) === SAMPLED ? toTraceFields(context) : undefined;
}

export function toTraceFields({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceFields {
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags & SAMPLED}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

/** Converts the fields to one text for storage, as version 00; undefined if they belong to no recorded trace. */
export function toTraceText(traceparent: unknown, tracestate: unknown): string | undefined {
  const recorded = typeof traceparent === 'string' ? RECORDED.exec(traceparent) : null;
  if (!recorded) return undefined;
  const text = `00-${recorded[1]}`;
  return typeof tracestate === 'string' && TRACESTATE.test(tracestate) ? `${text} ${tracestate}` : text;
}

/** Returns the text of {@link activeTrace}. */
export function activeTraceText(): string | undefined {
  const active = activeTrace();
  return active && toTraceText(active.traceparent, active.tracestate);
}

export function fromTraceText(text: string): TraceFields {
  if (text.length <= LENGTH) return { traceparent: text };
  return { traceparent: text.slice(0, LENGTH), tracestate: text.slice(LENGTH + 1) };
}
