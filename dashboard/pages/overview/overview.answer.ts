import type { CountsSummary, DestinationCounts } from '../../../lib/webhook-destination/observe/destination-counts.js';
import type { Hold } from '../destinations/health-badge.component.js';
import type { Counter, SeriesPoint } from '../../../lib/webhook-destination/observe/relay-series.js';

/** A destination, with the number of its deliveries. */
export interface OverviewDestination extends DestinationCounts {
  /** Undefined if the destination was removed. */
  entry?: Hold;
}

/** Answer of `GET overview`. */
export interface Overview extends CountsSummary {
  at: number;
  destinations: OverviewDestination[];
  /** Number of deliveries still to be delivered. */
  open: number;
  oldestAcceptedAt: number | null;
  recent: Record<Counter, number> & { minutes: number; from: number; latest: SeriesPoint | null };
  process: { lostBeforeIngest: number; uptime: number };
}

/** Answer of `GET timeseries`. */
export interface Timeseries {
  from: number;
  to: number;
  /** Time between two points, in ms. */
  interval: number;
  points: SeriesPoint[];
}
