import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import type { Acceptance } from '../../ingest/ingest.result.js';
import { addLatency } from './latency-histogram.js';
import { addCounts, type MinuteCounts, noCounts, type SeriesPoint, toPoint } from './minute-counts.js';
import type { Series, SeriesWriter } from './series.writer.js';

/** The series of all destinations together. */
const TOTAL = '';

/** Counts accepted messages and the outcomes of attempts, by the minute. */
export class SeriesRecorder {
  private readonly series: Series<MinuteCounts>;

  constructor(writer: SeriesWriter) {
    this.series = writer.add({ interval: 60_000, none: noCounts, add: addCounts });
  }

  accepted({ deliveries, messages, rejected }: Acceptance): void {
    const total = this.series.now(TOTAL);
    total.accepted += messages.length;
    total.rejected += rejected.length;
    for (const { destination } of deliveries) this.series.now(destination).accepted++;
  }

  settled(event: DeliveryEvent): void {
    const { type, destination, results } = event;
    const success = results.find(({ outcome }) => outcome === 'success');
    const duration = success?.duration ?? Math.max(...results.map((result) => result.duration));
    for (const counts of [this.series.now(TOTAL), this.series.now(destination)]) {
      if (type === 'delivered') counts.delivered++;
      else if (results.length > 0) counts.failed++;
      if (type === 'dead') counts.dead++;
      if (results.length > 0) addLatency(counts.latencies, duration);
    }
  }

  /**
   * Returns a point for each minute that has counts, oldest first. Without a destination, for all destinations
   * together.
   */
  async read(from: number, to: number, destination = TOTAL): Promise<SeriesPoint[]> {
    return (await this.series.read(destination, from, to)).map(([at, counts]) => toPoint(at, counts));
  }
}
