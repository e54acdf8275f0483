/** Buckets for each doubling of a duration: a percentile is at most 10 % off. */
const PER_OCTAVE = 4;

/** Number of durations by bucket. Histograms of several processes can be added up. */
export type LatencyHistogram = Record<string, number>;

/** Counts a duration, in ms. */
export function addLatency(histogram: LatencyHistogram, duration: number): void {
  const bucket = Math.max(0, Math.round(Math.log2(Math.max(duration, 1)) * PER_OCTAVE));
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}

/** Returns a percentile of the durations, in ms; undefined if there are none. For p95, `part` is 0.95. */
export function percentileOf(histogram: LatencyHistogram, part: number): number | undefined {
  const buckets = Object.entries(histogram).sort(([a], [b]) => Number(a) - Number(b));
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let passed = 0;
  for (const [bucket, count] of buckets) {
    passed += count;
    if (passed >= total * part) return Math.round(2 ** (Number(bucket) / PER_OCTAVE) * 10) / 10;
  }
  return undefined;
}
