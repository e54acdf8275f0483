/** Holds the active span. */
interface ContextManager {
  active(): OpenTelemetryContext;
  with<T>(context: OpenTelemetryContext, run: () => T): T;
}

interface OpenTelemetryContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OpenTelemetryContext;
  deleteValue(key: symbol): OpenTelemetryContext;
}

// All copies of `@opentelemetry/api` 1.x share it.
const API = Symbol.for('opentelemetry.js.api.1');

/** Key of the active span in a context. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
const SUPPRESS_TRACING = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Returns the application's context manager; undefined if OpenTelemetry does not trace the application. */
function contextManager(): ContextManager | undefined {
  return (globalThis as { [API]?: { context?: ContextManager } })[API]?.context;
}

/** Runs a function in the active context without its span. */
export function withoutSpan<T>(run: () => T): T {
  const manager = contextManager();
  return manager ? manager.with(manager.active().deleteValue(SPAN), run) : run();
}

/**
 * Connects to a receiver, or runs an application's transport, without OpenTelemetry's instrumentation, which would
 * create spans and add headers.
 */
export function untraced<T>(send: () => T): T {
  const manager = contextManager();
  return manager ? manager.with(manager.active().setValue(SUPPRESS_TRACING, true), send) : send();
}

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

/** Begins the text of a posted trace. */
const POSTED = 'posted ';

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

/** Marks the text of a trace that came with a request: the sender has chosen it, and receivers do not get it. */
export function toPostedTrace(text: string): string {
  return POSTED + text;
}

export function isPostedTrace(text: string): boolean {
  return text.startsWith(POSTED);
}

export function fromTraceText(text: string): TraceFields {
  const start = isPostedTrace(text) ? POSTED.length : 0;
  const [traceparent, tracestate] = [text.slice(start, start + LENGTH), text.slice(start + LENGTH + 1)];
  return tracestate === '' ? { traceparent } : { traceparent, tracestate };
}

export function traceIdOf({ traceparent }: TraceFields): string {
  return traceparent.split('-')[1]!;
}
