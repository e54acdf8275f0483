import type { SourceFigures } from '../../../lib/webhook-destination/observe/relay-series.js';
import type { SourceEntry } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';

/** A source as `GET sources` answers it, with figures. */
export interface Source extends SourceEntry {
  figures: SourceFigures;
}

const MINUTE = 60_000;

/**
 * Returns the messages per minute, over the time of two points until now. The oldest one that is in this time counts in
 * part, so the rate of a source that has stopped never rises.
 */
export function rateOf({ interval, points }: SourceFigures, now = Date.now()): number {
  const time = 2 * interval;
  const partOf = (at: number) => Math.min(Math.max((at + interval - (now - time)) / interval, 0), 1);
  return (points.reduce((sum, { at, accepted }) => sum + accepted * partOf(at), 0) * MINUTE) / time;
}

export function refusedCount({ refused }: SourceFigures): number {
  return Object.values(refused).reduce((sum, count) => sum + count, 0);
}

/** Formats a rate with only the digits that matter. */
export function toRate(rate: number): string {
  if (rate === 0) return '0/min';
  return rate < 0.1
    ? '< 0.1/min'
    : `${rate.toLocaleString(undefined, { maximumFractionDigits: rate < 10 ? 1 : 0 })}/min`;
}
