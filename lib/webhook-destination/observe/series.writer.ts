import { randomUUID } from 'node:crypto';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { within } from '../../common/promise.util.js';
import type { SeriesStore } from '../queue/series-store.interface.js';

/** Retention of counts, in ms: one day. */
export const SERIES_TIME = 24 * 60 * 60_000;

/** Minimum time between two writes, in ms. */
const WRITE_INTERVAL = 10_000;

/** Maximum wait for the last write, in ms. */
const CLOSE_TIMEOUT = 2_000;

/** A kind of counts, and the interval they are counted by. */
interface CountsKind<C> {
  /** Length of an interval, in ms: that of a longer kind must be a multiple of it. */
  interval: number;
  none: () => C;
  /** Adds `counts` to `sum`. */
  add: (sum: C, counts: C) => void;
}

/** A series of one kind. */
export interface Series<C> {
  /** Returns the counts of the current interval. The caller adds to them synchronously. */
  now(series: string): C;
  /** Returns the sums of all processes for each interval that has counts, oldest first. */
  read(series: string, from: number, to: number): Promise<[start: number, counts: C][]>;
}

/** Counts of this process in one interval. */
interface Interval {
  start: number;
  end: number;
  counts: object;
  /** Whether it has counts that are not written. */
  isChanged: boolean;
}

/** Writes all counts of this process to the store, where the counts of all processes add up. */
export class SeriesWriter {
  private readonly logger = new LimitedLogger('WebhookDestinationSeries');
  private readonly name = randomUUID();
  /** The current interval of each series, and those not yet written, newest first. */
  private readonly all = new Map<string, Interval[]>();
  private longest = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();

  /** @param store if undefined, the counts stay in memory for as long as the process runs */
  constructor(private readonly store: SeriesStore) {}

  add<C extends object>(kind: CountsKind<C>): Series<C> {
    this.longest = Math.max(this.longest, kind.interval);
    return {
      now: (series) => this.current(series, kind),
      read: (series, from, to) => this.read(series, kind, from, to),
    };
  }

  /** Writes the remaining counts, if the store answers in time. Called before the queue closes. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    const ended = this.write().then(() => {
      clearTimeout(this.timer);
      this.logger.end();
    });
    await within(CLOSE_TIMEOUT, ended, 'the last write').catch(() => undefined);
  }

  private current<C extends object>(series: string, { interval, none }: CountsKind<C>): C {
    this.schedule();
    const start = startOf(Date.now(), interval);
    let intervals = this.all.get(series);
    if (!intervals) this.all.set(series, (intervals = []));
    let current = intervals.find((known) => known.start === start);
    if (!current) intervals.unshift((current = { start, end: start + interval, counts: none(), isChanged: true }));
    current.isChanged = true;
    return current.counts as C;
  }

  private async read<C extends object>(
    series: string,
    { interval, none, add }: CountsKind<C>,
    from: number,
    to: number,
  ): Promise<[start: number, counts: C][]> {
    const first = startOf(Math.max(from, Date.now() - SERIES_TIME), interval);
    const sums = new Map<number, C>();
    const addTo = (start: number, counts: C) => {
      if (!sums.has(start)) sums.set(start, none());
      add(sums.get(start)!, counts);
    };
    // Copied before the store is read: the store's counts of this process may be older.
    const own = (this.all.get(series) ?? [])
      .filter(({ start }) => start >= first && start <= to)
      .map(({ start, counts }) => ({ start, counts: structuredClone(counts) as C }));
    for (const { writer, minute, text } of await this.store.read(series, first, to)) {
      const isOwn = writer === this.name && own.some(({ start }) => start === minute);
      if (!isOwn) addTo(minute, { ...none(), ...(JSON.parse(text) as C) });
    }
    for (const { start, counts } of own) addTo(start, counts);
    return [...sums].sort(([a], [b]) => a - b);
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => void this.write(), WRITE_INTERVAL).unref();
  }

  /** Queues the writes: of two concurrent ones, the older could win, or fail after its counts were dropped. */
  private write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeChanges());
    return this.writing;
  }

  /** Never rejects. */
  private async writeChanges(): Promise<void> {
    this.timer = undefined;
    const changed = [...this.all].flatMap(([series, intervals]) =>
      intervals.filter(({ isChanged }) => isChanged).map((interval) => ({ series, interval })),
    );
    if (changed.length === 0) return;
    const records = changed.map(({ series, interval: { start, counts } }) => {
      return { series, minute: start, writer: this.name, text: JSON.stringify(counts) };
    });
    for (const { interval } of changed) interval.isChanged = false;
    try {
      await this.store.write(records, startOf(Date.now() - SERIES_TIME, this.longest));
      this.drop(Date.now());
      this.logger.succeeded();
    } catch (error) {
      for (const { interval } of changed) interval.isChanged = true;
      this.schedule();
      this.logger.failed(`Figures by the minute cannot be written; trying again: ${errorMessage(error)}`);
    }
  }

  /** Drops intervals that ended before a time, unless they have changed again. */
  private drop(before: number): void {
    for (const [series, intervals] of this.all) {
      const kept = intervals.filter(({ end, isChanged }) => end > before || isChanged);
      if (kept.length > 0) this.all.set(series, kept);
      else this.all.delete(series);
    }
  }
}

/** Returns when the interval of a time began. */
export function startOf(time: number, interval: number): number {
  return Math.floor(time / interval) * interval;
}
