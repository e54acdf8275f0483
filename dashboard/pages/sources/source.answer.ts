import type { SourceFigures } from '../../../lib/webhook-destination/observe/relay-series.js';
import type { SourceEntry } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';

/** A source as `GET sources` answers it, with figures. */
export interface Source extends SourceEntry {
  figures: SourceFigures;
}

const MINUTE = 60_000;

/** Returns the messages per minute, over the current point and the one before it. */
export function rateOf({ interval, points }: SourceFigures, now = Date.now()): number {
  const first = Math.floor(now / interval) * interval - interval;
  const recent = points.filter(({ at }) => at >= first);
  return (recent.reduce((sum, { accepted }) => sum + accepted, 0) * MINUTE) / (now - first);
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
