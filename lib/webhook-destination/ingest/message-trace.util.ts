import { isTraceparent, toTraceText } from '../../client/telemetry/trace-context.js';

/** A context without the trace that it had. */
interface TracedContext {
  /** JSON. */
  context: string;
  /** The trace, as `NewDelivery` has it; undefined where it is not recorded. */
  trace: string | undefined;
}

/**
 * Takes `traceparent` and `tracestate` out of the JSON of a context, as they are not for receivers.
 *
 * @returns undefined where it has no valid `traceparent`: most have none, and are not parsed
 */
export function takeTrace(json: string | undefined): TracedContext | undefined {
  if (json === undefined || !json.includes('"traceparent":"')) return undefined;
  const { traceparent, tracestate, ...others } = JSON.parse(json) as Record<string, unknown>;
  if (!isTraceparent(traceparent)) return undefined;
  return {
    context: JSON.stringify(others),
    trace: toTraceText({ traceparent, tracestate: tracestate as string | undefined }),
  };
}
