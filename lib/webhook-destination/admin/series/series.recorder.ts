import { randomUUID } from 'node:crypto';

import { errorMessage } from '../../../common/error.util.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import type { Acceptance } from '../../ingest/message.acceptor.js';
import type { SeriesRecord, SeriesStore } from '../../queue/series-store.interface.js';
import { addLatency } from './latency-histogram.js';
import { addCounts, type MinuteCounts, noCounts, type SeriesPoint, toPoint } from './minute-counts.js';

const MINUTE = 60_000;

/** How long points are kept, in ms: a day. */
export const SERIES_TIME = 24 * 60 * MINUTE;

/** Shortest time between two writes, in ms. */
const WRITE_INTERVAL = 10_000;

/** The series of all destinations together. */
const TOTAL = '';

/** Counts by the minute what this process accepts and delivers, and keeps it in the store, where all processes add up. */
export class SeriesRecorder {
  private readonly logger = new LimitedLogger('WebhookDestinationSeries');
  private readonly writer = randomUUID();
  /** By minute and series: the present minute, and what is not written yet. */
  private readonly minutes = new Map<number, Map<string, MinuteCounts>>();
  private dirty = new Set<MinuteCounts>();
  private timer: NodeJS.Timeout | undefined;
  private lastWriteAt = -Infinity;

  /** @param store undefined keeps the points of this process for as long as it runs */
  constructor(private readonly store: SeriesStore | undefined) {}

  accepted({ deliveries, messages, rejected }: Acceptance): void {
    const total = this.countsOf(TOTAL);
    total.accepted += messages.length;
    total.rejected += rejected.length;
    for (const { destination } of deliveries) this.countsOf(destination).accepted++;
  }

  settled(event: DeliveryEvent): void {
    const { type, destination, results } = event;
    const success = results.find(({ outcome }) => outcome === 'success');
    const duration = success?.duration ?? Math.max(...results.map((result) => result.duration));
    for (const counts of [this.countsOf(TOTAL), this.countsOf(destination)]) {
      if (type === 'delivered') counts.delivered++;
      else if (results.length > 0) counts.failed++;
      if (type === 'dead') counts.dead++;
      if (results.length > 0) addLatency(counts.latencies, duration);
    }
  }

  /** A point for each minute in which something happened, the oldest first. Without a destination, of all together. */
  async read(from: number, to: number, destination = TOTAL): Promise<SeriesPoint[]> {
    const first = Math.max(minuteOf(from), minuteOf(Date.now() - SERIES_TIME));
    const sums = new Map<number, MinuteCounts>();
    const add = (minute: number, counts: MinuteCounts) => {
      if (!sums.has(minute)) sums.set(minute, noCounts());
      addCounts(sums.get(minute)!, counts);
    };
    // Before the store is read: what it holds of this process may be older.
    const own = [...this.minutes].flatMap(([minute, series]) => {
      const counts = series.get(destination);
      return counts && minute >= first && minute <= to ? [{ minute, counts: structuredClone(counts) }] : [];
    });
    for (const record of (await this.store?.read(destination, first, to)) ?? []) {
      const isOwn = record.writer === this.writer && own.some(({ minute }) => minute === record.minute);
      if (!isOwn) add(record.minute, parse(record));
    }
    for (const { minute, counts } of own) add(minute, counts);
    return [...sums].sort(([a], [b]) => a - b).map(([minute, counts]) => toPoint(minute, counts));
  }

  /** Writes what is left. Comes before the queue is closed. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.write();
    clearTimeout(this.timer);
    this.logger.end();
  }

  private countsOf(series: string): MinuteCounts {
    const minute = minuteOf(Date.now());
    let all = this.minutes.get(minute);
    if (!all) this.minutes.set(minute, (all = new Map<string, MinuteCounts>()));
    let counts = all.get(series);
    if (!counts) all.set(series, (counts = noCounts()));
    this.dirty.add(counts);
    this.schedule();
    return counts;
  }

  private schedule(): void {
    const wait = Math.max(0, this.lastWriteAt + WRITE_INTERVAL - performance.now());
    this.timer ??= setTimeout(() => void this.write(), wait || WRITE_INTERVAL).unref();
  }

  /** Never rejects. */
  private async write(): Promise<void> {
    this.timer = undefined;
    if (this.dirty.size === 0) return;
    const { dirty } = this;
    this.dirty = new Set();
    this.lastWriteAt = performance.now();
    const written = [...this.minutes.keys()];
    try {
      await this.store?.write(this.toRecords(dirty), minuteOf(Date.now() - SERIES_TIME));
      this.forget(written);
      this.logger.succeeded();
    } catch (error) {
      for (const counts of dirty) this.dirty.add(counts);
      this.schedule();
      this.logger.failed(`Figures by the minute cannot be written; trying again: ${errorMessage(error)}`);
    }
  }

  private toRecords(dirty: Set<MinuteCounts>): SeriesRecord[] {
    return [...this.minutes].flatMap(([minute, all]) =>
      [...all]
        .filter(([, counts]) => dirty.has(counts))
        .map(([series, counts]) => ({ series, minute, writer: this.writer, text: JSON.stringify(counts) })),
    );
  }

  /** Drops minutes that are over and written; without a store, those that are too old. */
  private forget(written: number[]): void {
    const now = Date.now();
    const oldest = minuteOf(this.store ? now : now - SERIES_TIME);
    for (const minute of written) if (minute < oldest) this.minutes.delete(minute);
  }
}

function minuteOf(time: number): number {
  return Math.floor(time / MINUTE) * MINUTE;
}

function parse({ text }: SeriesRecord): MinuteCounts {
  return { ...noCounts(), ...(JSON.parse(text) as MinuteCounts) };
}
