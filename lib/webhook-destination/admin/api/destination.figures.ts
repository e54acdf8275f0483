import { sortCounts, type StateCounts } from '../../observe/destination-counts.js';
import { type RelaySeries, type SeriesPoint, sumOf } from '../../observe/relay-series.js';
import { startOf } from '../../observe/series.writer.js';
import type { AdminProcess } from './admin-services.interface.js';

/** Period of a destination's recent outcomes, in ms. */
const RECENT = 60 * 60_000;

const OUTCOMES = ['delivered', 'failed', 'dead'] as const;

/** Current figures of a destination. */
export interface DestinationFigures {
  counts: StateCounts;
  /** Whether this process has found the destination to be down. */
  down: boolean;
  /** Until when its receiver asked this process for no requests (`Retry-After`), in ms since the epoch. */
  heldUntil?: number | undefined;
  /** Outcomes of the last hour; `failed` counts attempts. */
  recent: { minutes: number; delivered: number; failed: number; dead: number };
  health: DestinationHealth;
  /** Percentiles of the duration of the last hour's attempts, in ms; null if there were none. */
  p50: number | null;
  p95: number | null;
  /** Deliveries per minute, of the last five minutes. */
  perMinute: number;
  trend: DestinationTrend;
}

/** The last hour in twelve equal spans, the oldest first. */
export interface DestinationTrend {
  delivered: number[];
  /** Failed attempts. */
  failed: number[];
  /** 95th percentile of the duration of attempts in the slowest minute, in ms; null without attempts. */
  p95: (number | null)[];
}

/** Spans of a trend. */
const SPANS = 12;

/** Length of a span, in ms; also the time in which the rate of a destination is measured. */
const SPAN = RECENT / SPANS;

/** Number of minutes with outcomes that health is judged by, the last ones of the last hour. */
const JUDGED = 5;

/** Share of failures above which a destination is `degraded`. */
const DEGRADED = 0.1;

/** Entries that are read at once: SQLite answers calls that come one after the other only every 3 ms. */
const TOGETHER = 16;

/** What the last minutes with outcomes show: nothing delivered, some failures, few or none; `idle` without outcomes. */
export type DestinationHealth = 'failing' | 'degraded' | 'delivering' | 'idle';

/** @param points of the last hour */
function healthOf(points: SeriesPoint[]): DestinationHealth {
  const judged = points.filter(({ delivered, failed, dead }) => delivered + failed + dead > 0).slice(-JUDGED);
  if (judged.length === 0) return 'idle';
  const { delivered, failed, dead } = sumOf(judged, OUTCOMES);
  if (delivered === 0) return 'failing';
  // A delivery may die of an attempt, which counts as failed, or without one.
  const faults = Math.max(failed, dead);
  return faults / (delivered + faults) > DEGRADED ? 'degraded' : 'delivering';
}

/** Reads the current figures of destinations, in the order of their names. */
export async function readDestinationFigures(
  own: AdminProcess,
  series: RelaySeries,
  names: string[],
): Promise<DestinationFigures[]> {
  const now = Date.now();
  const down = new Set(own.dispatcher.downNames);
  const { byName } = sortCounts(await own.figures.counts());
  const summaries = await readEach(names, (name) => series.summarize(now - RECENT, now, name));
  return names.map((name, index) => {
    const { points, p50, p95 } = summaries[index]!;
    return {
      counts: byName.get(name)?.counts ?? {},
      down: down.has(name),
      heldUntil: own.dispatcher.heldUntil(name),
      recent: { minutes: RECENT / 60_000, ...sumOf(points, OUTCOMES) },
      health: healthOf(points),
      p50,
      p95,
      perMinute: perMinute(points, now),
      trend: toTrend(points, now),
    };
  });
}

/** Number of deliveries that a destination has to be sent. */
export function openOf({ queued = 0, delivering = 0, waiting = 0 }: DestinationFigures['counts']): number {
  return queued + delivering + waiting;
}

function perMinute(points: SeriesPoint[], now: number): number {
  const from = startOf(now - SPAN, 60_000); // whole minutes, as the points are
  const { delivered } = sumOf(
    points.filter(({ at }) => at >= from),
    ['delivered'],
  );
  return delivered / ((now - from) / 60_000);
}

function toTrend(points: SeriesPoint[], now: number): DestinationTrend {
  const spans = Array.from({ length: SPANS }, (): SeriesPoint[] => []);
  for (const point of points) spans[SPANS - 1 - Math.min(Math.floor((now - point.at) / SPAN), SPANS - 1)]?.push(point);
  const highest = (values: (number | null)[]) =>
    values.reduce((max, value) => (max === null || (value ?? 0) > max ? value : max), null);
  return {
    delivered: spans.map((span) => sumOf(span, ['delivered']).delivered),
    failed: spans.map((span) => sumOf(span, ['failed']).failed),
    p95: spans.map((span) => highest(span.map((point) => point.p95))),
  };
}

/** Reads a few entries at once: writes of the store come between. */
export async function readEach<T>(names: string[], read: (name: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < names.length; start += TOGETHER) {
    found.push(...(await Promise.all(names.slice(start, start + TOGETHER).map(read))));
  }
  return found;
}
