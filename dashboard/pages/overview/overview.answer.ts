import type { DeliveryCount } from '../../../lib/webhook-destination/queue/delivery.interface.js';
import type { Counter, SeriesPoint } from '../../../lib/webhook-destination/observe/relay-series.js';

/** Answer of `GET overview`. */
export interface Overview {
  at: number;
  counts: DeliveryCount[];
  /** Number of deliveries still to be delivered. */
  open: number;
  oldestAcceptedAt: number | null;
  recent: Record<Counter, number> & { minutes: number; latest: SeriesPoint | null };
  /** Names of the destinations that are down. */
  down: string[];
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
