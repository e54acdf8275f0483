import { isTraceparent, toTraceText } from '../../client/telemetry/trace-context.js';

/**
 * Removes `traceparent` and `tracestate` from the JSON of a context, because they are not for receivers. The trace is in
 * the format of `NewDelivery`; undefined if it is not recorded.
 *
 * @returns undefined if it has no valid `traceparent`; most have none and are not parsed
 */
export function takeTrace(json: string | undefined): { context: string; trace: string | undefined } | undefined {
  if (json === undefined || !json.includes('"traceparent":"')) return undefined;
  const { traceparent, tracestate, ...others } = JSON.parse(json) as Record<string, unknown>;
  if (!isTraceparent(traceparent)) return undefined;
  return {
    context: JSON.stringify(others),
    trace: toTraceText({ traceparent, tracestate: tracestate as string | undefined }),
  };
}
