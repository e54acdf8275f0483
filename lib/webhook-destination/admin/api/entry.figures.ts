import type { DeliveryState } from '../../queue/delivery-queue.interface.js';
import type { SeriesPoint } from '../series/minute-counts.js';
import type { SeriesRecorder } from '../series/series.recorder.js';
import type { SourceFigures, SourceRecorder } from '../series/source.recorder.js';
import type { AdminProcess } from './admin-services.interface.js';

/** Period of a destination's recent outcomes, in ms. */
const RECENT = 60 * 60_000;

/** Current figures of a destination. */
export interface DestinationFigures {
  /** Number of deliveries by state; states without deliveries are omitted. */
  counts: Partial<Record<DeliveryState, number>>;
  /** Whether this process has found the destination to be down. */
  down: boolean;
  /** Outcomes of the last hour; `failed` counts attempts. */
  recent: { minutes: number; delivered: number; failed: number; dead: number };
}

/** Reads the recent figures of destinations and sources, by name. */
export class EntryFigures {
  constructor(
    private readonly own: AdminProcess,
    private readonly series: SeriesRecorder,
    private readonly sources: SourceRecorder,
  ) {}

  async ofDestinations(names: string[]): Promise<DestinationFigures[]> {
    const now = Date.now();
    const down = new Set(this.own.downNames());
    const [counts, ...points] = await Promise.all([
      this.own.figures.counts(),
      ...names.map((name) => this.series.read(now - RECENT, now, name)),
    ]);
    const byName = new Map<string, DestinationFigures['counts']>(names.map((name) => [name, {}]));
    for (const { destination, state, count } of counts) {
      const found = byName.get(destination);
      if (found) found[state] = count;
    }
    return names.map((name, index) => ({
      counts: byName.get(name)!,
      down: down.has(name),
      recent: { minutes: RECENT / 60_000, ...outcomesOf(points[index]!) },
    }));
  }

  ofSources(names: string[]): Promise<SourceFigures[]> {
    return Promise.all(names.map((name) => this.sources.read(name)));
  }

  /** Reads the figures of requests without a known write key. */
  ofUnknown(): Promise<SourceFigures> {
    return this.sources.read();
  }
}

function outcomesOf(points: SeriesPoint[]): Record<'delivered' | 'failed' | 'dead', number> {
  const sum = { delivered: 0, failed: 0, dead: 0 };
  for (const { delivered, failed, dead } of points) {
    sum.delivered += delivered;
    sum.failed += failed;
    sum.dead += dead;
  }
  return sum;
}
