import type { SeriesRecord } from '../../queue/series-store.interface.js';

const MINUTE = 60_000;

/** How long counts are kept, in ms: a day. */
export const SERIES_TIME = 24 * 60 * MINUTE;

/** What is counted in each interval. */
export interface CountsKind<C> {
  /** Length of an interval, in ms. */
  interval: number;
  none(): C;
  /** Adds counts to others. */
  add(sum: C, counts: C): void;
}

/** Counts of this process, by interval and series: the present interval, and what is not written yet. */
export class IntervalCounts<C extends object> {
  private readonly intervals = new Map<number, Map<string, C>>();
  private changed = new Set<C>();

  constructor(
    private readonly kind: CountsKind<C>,
    private readonly writer: string,
  ) {}

  /** The beginning of the first interval that is kept, in ms since the epoch. */
  get oldest(): number {
    return this.startOf(Date.now() - SERIES_TIME);
  }

  /** The counts of now, which the caller adds to at once. */
  now(series: string): C {
    const start = this.startOf(Date.now());
    let all = this.intervals.get(start);
    if (!all) this.intervals.set(start, (all = new Map<string, C>()));
    let counts = all.get(series);
    if (!counts) all.set(series, (counts = this.kind.none()));
    this.changed.add(counts);
    return counts;
  }

  /** The sums of all writers for each interval in which something happened, the oldest first. */
  async sums(
    series: string,
    from: number,
    to: number,
    readStored: (from: number) => Promise<SeriesRecord[]>,
  ): Promise<[start: number, counts: C][]> {
    const first = Math.max(this.startOf(from), this.oldest);
    const sums = new Map<number, C>();
    const add = (start: number, counts: C) => {
      if (!sums.has(start)) sums.set(start, this.kind.none());
      this.kind.add(sums.get(start)!, counts);
    };
    // Before the store is read: what it holds of this process may be older.
    const own = [...this.intervals].flatMap(([start, all]) => {
      const counts = all.get(series);
      return counts && start >= first && start <= to ? [{ start, counts: structuredClone(counts) }] : [];
    });
    for (const { writer, minute, text } of await readStored(first)) {
      const isOwn = writer === this.writer && own.some(({ start }) => start === minute);
      if (!isOwn) add(minute, { ...this.kind.none(), ...(JSON.parse(text) as C) });
    }
    for (const { start, counts } of own) add(start, counts);
    return [...sums].sort(([a], [b]) => a - b);
  }

  /** What changed since the last call; `putBack` if it could not be written. */
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

  /** Drops intervals that are over and before a time, unless they changed again. */
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
