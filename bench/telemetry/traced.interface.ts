/** From `track()` in one application, or from batches that are posted to it. */
export type Way = 'in process' | 'over HTTP';

export type Engine = 'memory' | 'sqlite';

/** Events that one of the relays gets: recorded here, or posted by the bench. */
export interface Burst {
  /** Of the relay, in {@link TRACINGS}. */
  index: number;
  count: number;
}

/**
 * What each relay has:
 * - `none`: no option `telemetry`
 * - `figures`: metrics without spans
 * - `a span`: metrics, and for each attempt one call of the SDK at a sampling of 1 %, the least that tracing can cost
 * - `1 %`, `100 %`: `openTelemetry()` at this sampling
 */
export const TRACINGS = ['none', 'figures', 'a span', '1 %', '100 %'] as const;

export type Tracing = (typeof TRACINGS)[number];
