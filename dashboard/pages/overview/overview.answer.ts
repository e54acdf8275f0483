import type { CountsSummary } from '../../../lib/webhook-destination/observe/destination-counts.js';
import type { Counter, SeriesPoint } from '../../../lib/webhook-destination/observe/relay-series.js';

/** Answer of `GET overview`. */
export interface Overview extends CountsSummary {
  at: number;
  /** Number of deliveries still to be delivered. */
  open: number;
  oldestAcceptedAt: number | null;
  recent: Record<Counter, number> & { minutes: number; latest: SeriesPoint | null };
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
