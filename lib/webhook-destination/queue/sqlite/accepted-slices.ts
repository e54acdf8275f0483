import type { RetentionBound } from '../retention.options.js';

/** By what part of a bound a slice may grow, and what is noted at once. */
export const PART = 1 / 64;

/** Shortest time that a slice may take, in ms. */
const SHORTEST = 1_000;

/** Batches one after the other that are forgotten together. */
interface Slice {
  readonly last: number;
  /** Ids in them. */
  readonly count: number;
  /** When the first and the last were accepted, in ms since the epoch. */
  readonly since: number;
  readonly until: number;
}

/** How many ids are remembered and since when, so that the oldest can be forgotten without being looked at. */
export class AcceptedSlices {
  private slices: Slice[] = [];
  private count = 0;

  constructor(private readonly bound: Required<RetentionBound>) {}

  /** Notes a batch that comes after all others. */
  note(batch: number, count: number, now: number): void {
    this.count += count;
    const last = this.slices.at(-1);
    const isOpen =
      last !== undefined &&
      last.count < this.bound.count * PART &&
      now - last.since < Math.max(this.bound.age * PART, SHORTEST);
    if (isOpen) {
      const until = Math.max(last.until, now);
      this.slices[this.slices.length - 1] = { last: batch, count: last.count + count, since: last.since, until };
    } else {
      this.slices.push({ last: batch, count, since: now, until: now });
    }
  }

  /** Drops the oldest slices that are past a bound; answers with the last batch of them. */
  trim(now: number): number | undefined {
    let dropped: number | undefined;
    for (let oldest = this.slices[0]; oldest !== undefined; oldest = this.slices[0]) {
      if (this.count <= this.bound.count && oldest.until > now - this.bound.age) break;
      this.count -= oldest.count;
      dropped = oldest.last;
      this.slices.shift();
    }
    return dropped;
  }

  /** Remembers how things are; the function that is returned makes them so again. */
  save(): () => void {
    const { count } = this;
    const slices = [...this.slices];
    return () => Object.assign(this, { count, slices });
  }
}
