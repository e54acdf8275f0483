/** Minimum size of a jump, in ms. */
const MIN_JUMP = 1_000;

/** Maximum number of jumps that are kept: more than a retry window usually contains. */
const MAX_JUMPS = 100;

/** Time by which the clock was ahead of the time that had passed. */
interface Jump {
  /** The time before the jump, in ms since the epoch. */
  from: number;
  /** The time after it, in ms since the epoch. */
  to: number;
}

/**
 * The clock that deliveries are scheduled by. It follows the system clock but never goes back: if the system clock is
 * set back, this clock runs on until the system clock has caught up. Waits already scheduled keep their length.
 */
export class SteadyClock {
  private last = -Infinity;
  private readAt = 0;
  /** Jumps ahead of the followed clock, oldest first: set ahead, or the machine was suspended. No time passed in them. */
  readonly jumps: Jump[] = [];

  /** @param source returns the time to follow, in ms since the epoch */
  constructor(private readonly source: () => number) {}

  /** Returns the time in whole ms since the epoch. */
  now(): number {
    const readAt = performance.now();
    const passed = this.last + readAt - this.readAt;
    const last = Math.max(this.source(), passed);
    if (last - passed > MIN_JUMP && passed > 0) {
      this.jumps.push({ from: passed, to: last });
      if (this.jumps.length > MAX_JUMPS) this.jumps.shift();
    }
    this.last = last;
    this.readAt = readAt;
    return Math.floor(last);
  }
}
