import { type RelaySeries, type SeriesPoint, sumOf } from '../../observe/relay-series.js';
import type { AdminProcess } from './admin-services.interface.js';
import { sortCounts, type StateCounts } from './destination-counts.js';

/** Period of a destination's recent outcomes, in ms. */
const RECENT = 60 * 60_000;

const OUTCOMES = ['delivered', 'failed', 'dead'] as const;

/** Current figures of a destination. */
export interface DestinationFigures {
  counts: StateCounts;
  /** Whether this process has found the destination to be down. */
  down: boolean;
  /** Outcomes of the last hour; `failed` counts attempts. */
  recent: { minutes: number; delivered: number; failed: number; dead: number };
  health: DestinationHealth;
}

/** Number of minutes with outcomes that health is judged by, the last ones of the last hour. */
const JUDGED = 5;

/** Share of failures above which a destination is `degraded`. */
const DEGRADED = 0.1;

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
  const points = await readEach(names, (name) => series.read(now - RECENT, now, name));
  return names.map((name, index) => ({
    counts: byName.get(name)?.counts ?? {},
    down: down.has(name),
    recent: { minutes: RECENT / 60_000, ...sumOf(points[index]!, OUTCOMES) },
    health: healthOf(points[index]!),
  }));
}

/** Reads one entry after the other: writes of the store come between. */
export async function readEach<T>(names: string[], read: (name: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (const name of names) found.push(await read(name));
  return found;
}
