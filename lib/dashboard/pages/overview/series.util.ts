import type { SeriesPoint } from '../../../webhook-destination/admin/series/minute-counts.js';
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

/** Figures of several minutes: counts are sums, latencies are those of the slowest minute. */
export interface Span extends SeriesPoint {
  /** Length of the span, in ms. */
  length: number;
}

/** Groups points into spans, latest first; spans without points are omitted. */
export function toSpans(points: SeriesPoint[], length: number): Span[] {
  const spans = new Map<number, Span>();
  for (const point of points) {
    const at = Math.floor(point.at / length) * length;
    const span = spans.get(at);
    spans.set(at, span ? add(span, point) : { ...point, at, length });
  }
  return [...spans.values()].sort((a, b) => b.at - a.at);
}

function add(span: Span, point: SeriesPoint): Span {
  return {
    at: span.at,
    length: span.length,
    accepted: span.accepted + point.accepted,
    rejected: span.rejected + point.rejected,
    delivered: span.delivered + point.delivered,
    failed: span.failed + point.failed,
    dead: span.dead + point.dead,
    p50: slower(span.p50, point.p50),
    p95: slower(span.p95, point.p95),
  };
}

function slower(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
