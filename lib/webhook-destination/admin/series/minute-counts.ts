import { type LatencyHistogram, percentileOf } from './latency-histogram.js';

/** Names of the counters of a minute. */
export const COUNTERS = ['accepted', 'rejected', 'delivered', 'failed', 'dead'] as const;

export type Counter = (typeof COUNTERS)[number];

/** Counts of one minute. */
export interface MinuteCounts extends Record<Counter, number> {
  latencies: LatencyHistogram;
}

/** One minute of a series, as the API answers it. */
export interface SeriesPoint {
  /** Start of the minute, in ms since the epoch. */
  at: number;
  /** Accepted messages; in the series of a destination, its new deliveries. */
  accepted: number;
  /** Rejected messages; in the series of a destination, always 0. */
  rejected: number;
  delivered: number;
  /** Failed attempts. */
  failed: number;
  dead: number;
  /** Percentiles of the duration of attempts, in ms; null for a minute without attempts. */
  p50: number | null;
  p95: number | null;
}

export function noCounts(): MinuteCounts {
  return { accepted: 0, rejected: 0, delivered: 0, failed: 0, dead: 0, latencies: {} };
}

/** Adds `counts` to `sum`. */
export function addCounts(sum: MinuteCounts, counts: MinuteCounts): void {
  for (const counter of COUNTERS) sum[counter] += counts[counter];
  for (const [bucket, count] of Object.entries(counts.latencies)) {
    sum.latencies[bucket] = (sum.latencies[bucket] ?? 0) + count;
  }
}

export function toPoint(at: number, { latencies, ...counts }: MinuteCounts): SeriesPoint {
  return { at, ...counts, p50: percentileOf(latencies, 0.5) ?? null, p95: percentileOf(latencies, 0.95) ?? null };
}

/** Returns the sums of some counters of the points. */
export function sumOf<C extends Counter>(points: SeriesPoint[], counters: readonly C[]): Record<C, number> {
  const sums = counters.map((counter) => [counter, points.reduce((sum, point) => sum + point[counter], 0)]);
  return Object.fromEntries(sums) as Record<C, number>;
}
