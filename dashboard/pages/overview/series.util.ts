import type { SeriesPoint } from '../../../lib/webhook-destination/observe/relay-series.js';
import type { ChartData } from '../../components/chart.component.js';
import type { Timeseries } from './overview.answer.js';

export type Metric = Exclude<keyof SeriesPoint, 'at'>;

const MINUTE = 60_000;

/** Converts points to the lines of a chart. Minutes without a point have counts of 0, and no latencies. */
export function toChartData({ from, to, points }: Timeseries, metrics: readonly Metric[]): ChartData {
  const byTime = new Map(points.map((point) => [point.at, point]));
  const first = Math.ceil(from / MINUTE) * MINUTE;
  const times = Array.from(
    { length: Math.max(0, Math.floor((to - first) / MINUTE) + 1) },
    (_, i) => first + i * MINUTE,
  );
  const lines = metrics.map((metric) =>
    times.map((at) => byTime.get(at)?.[metric] ?? (metric === 'p50' || metric === 'p95' ? null : 0)),
  );
  return [times.map((at) => at / 1_000), ...lines];
}

/** Adds a point to the figures of several minutes: counts are sums, latencies are those of the slowest minute. */
export function addPoint(sum: SeriesPoint, point: SeriesPoint): SeriesPoint {
  return {
    at: sum.at,
    accepted: sum.accepted + point.accepted,
    rejected: sum.rejected + point.rejected,
    duplicate: sum.duplicate + point.duplicate,
    routed: sum.routed + point.routed,
    delivered: sum.delivered + point.delivered,
    failed: sum.failed + point.failed,
    dead: sum.dead + point.dead,
    p50: slower(sum.p50, point.p50),
    p95: slower(sum.p95, point.p95),
  };
}

function slower(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
