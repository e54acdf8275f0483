import { type LatencyHistogram, percentileOf } from './latency-histogram.js';

/** Figures of a minute that are counted. */
export const COUNTERS = ['accepted', 'rejected', 'delivered', 'failed', 'dead'] as const;

export type Counter = (typeof COUNTERS)[number];

/** What happened in one minute. */
export interface MinuteCounts extends Record<Counter, number> {
  latencies: LatencyHistogram;
}

/** One minute of a series, as it is shown. */
export interface SeriesPoint {
  /** Beginning of the minute, in ms since the epoch. */
  at: number;
  /** Messages accepted; of one destination, deliveries to it. */
  accepted: number;
  /** Messages refused; of one destination always 0. */
  rejected: number;
  delivered: number;
  /** Attempts that failed. */
  failed: number;
  dead: number;
  /** Duration of attempts, in ms; null for a minute without one. */
  p50: number | null;
  p95: number | null;
}

export function noCounts(): MinuteCounts {
  return { accepted: 0, rejected: 0, delivered: 0, failed: 0, dead: 0, latencies: {} };
}

/** Adds counts to others. */
export function addCounts(sum: MinuteCounts, counts: MinuteCounts): void {
  for (const counter of COUNTERS) sum[counter] += counts[counter];
  for (const [bucket, count] of Object.entries(counts.latencies)) {
    sum.latencies[bucket] = (sum.latencies[bucket] ?? 0) + count;
  }
}

export function toPoint(at: number, { latencies, ...counts }: MinuteCounts): SeriesPoint {
  return { at, ...counts, p50: percentileOf(latencies, 0.5) ?? null, p95: percentileOf(latencies, 0.95) ?? null };
}
