import type { SeriesRecord, SeriesStore } from '../../queue/series-store.interface.js';

const MINUTE = 60_000;

/** Retention of counts, in ms: one day. */
export const SERIES_TIME = 24 * 60 * MINUTE;

/** A kind of counts, and the interval they are counted by. */
export interface CountsKind<C> {
  /** Length of an interval, in ms. */
  interval: number;
  none(): C;
  /** Adds `counts` to `sum`. */
  add(sum: C, counts: C): void;
}

/** Counts of this process by interval and series: those of the current interval, and those not yet written. */
export class IntervalCounts<C extends object> {
  private readonly intervals = new Map<number, Map<string, C>>();
  private changed = new Set<C>();

  constructor(
    private readonly kind: CountsKind<C>,
    private readonly writer: string,
  ) {}

  /** Start of the oldest interval that is kept, in ms since the epoch. */
  get oldest(): number {
    return this.startOf(Date.now() - SERIES_TIME);
  }

  /** Returns the counts of the current interval. The caller adds to them synchronously. */
  now(series: string): C {
    const start = this.startOf(Date.now());
    let all = this.intervals.get(start);
    if (!all) this.intervals.set(start, (all = new Map<string, C>()));
    let counts = all.get(series);
    if (!counts) all.set(series, (counts = this.kind.none()));
    this.changed.add(counts);
    return counts;
  }

  /** Returns the sums of all writers for each interval that has counts, oldest first. */
  async sums(
    store: SeriesStore | undefined,
    series: string,
    from: number,
    to: number,
  ): Promise<[start: number, counts: C][]> {
    const first = Math.max(this.startOf(from), this.oldest);
    const sums = new Map<number, C>();
    const add = (start: number, counts: C) => {
      if (!sums.has(start)) sums.set(start, this.kind.none());
      this.kind.add(sums.get(start)!, counts);
    };
    // Copied before the store is read: the store's counts of this process may be older.
    const own = [...this.intervals].flatMap(([start, all]) => {
      const counts = all.get(series);
      return counts && start >= first && start <= to ? [{ start, counts: structuredClone(counts) }] : [];
    });
    for (const { writer, minute, text } of (await store?.read(series, first, to)) ?? []) {
      const isOwn = writer === this.writer && own.some(({ start }) => start === minute);
      if (!isOwn) add(minute, { ...this.kind.none(), ...(JSON.parse(text) as C) });
    }
    for (const { start, counts } of own) add(start, counts);
    return [...sums].sort(([a], [b]) => a - b);
  }

  /** Returns the counts changed since the last call. If they cannot be written, call `putBack`. */
  takeChanges(): { records: SeriesRecord[]; putBack: () => void } {
    const { changed } = this;
    this.changed = new Set();
    const records = [...this.intervals].flatMap(([minute, all]) =>
      [...all]
        .filter(([, counts]) => changed.has(counts))
        .map(([series, counts]) => ({ series, minute, writer: this.writer, text: JSON.stringify(counts) })),
    );
    return { records, putBack: () => changed.forEach((counts) => this.changed.add(counts)) };
  }

  /** Drops past intervals that start before a time, unless they have changed again. */
  drop(before: number): void {
    const end = Math.min(before, this.startOf(Date.now()));
    for (const [start, all] of this.intervals) {
      const isOver = start < end && ![...all.values()].some((counts) => this.changed.has(counts));
      if (isOver) this.intervals.delete(start);
    }
  }

  private startOf(time: number): number {
    return Math.floor(time / this.kind.interval) * this.kind.interval;
  }
}
