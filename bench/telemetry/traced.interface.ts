/** From `track()` in one application, or from batches that are posted to it. */
export type Way = 'in process' | 'over HTTP';

export type Engine = 'memory' | 'sqlite';

/** Events that one of the relays gets: recorded here, or posted by the bench. */
export interface Burst {
  /** Of the relay, in {@link SAMPLINGS}. */
  index: number;
  count: number;
}

/** The part of all traces that is recorded; undefined for a relay without the option `telemetry`. */
export const SAMPLINGS = [undefined, 0.01, 1];
