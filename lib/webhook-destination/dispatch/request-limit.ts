import { Fifo } from '../../client/delivery/fifo.js';
import { MAX_TIMER_DELAY } from '../../client/timer.limits.js';
import { isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';

/** Maximum of `requests`: a timestamp is kept for each. */
export const MAX_LIMITED_REQUESTS = 100_000;

/** Limit on the rate of requests to a destination, for each process. */
export interface DestinationRateLimit {
  /** Maximum number of requests within any `per` ms, from 1 to 100,000. An attempt makes one request to each URL. */
  requests: number;
  /** Length of the window, in ms. */
  per: number;
}

/** Returns whether a value is a valid limit without other properties. */
export function isRateLimit(value: unknown): boolean {
  const { requests, per, ...others } = (value ?? {}) as Partial<DestinationRateLimit>;
  if (Object.keys(others).length > 0) return false;
  return (
    isPositiveInteger(requests) && requests <= MAX_LIMITED_REQUESTS && isPositiveNumber(per) && per <= MAX_TIMER_DELAY
  );
}

/** Requests that wait until all of them may be made. */
interface Waiter {
  count: number;
  resolve: (isAdmitted: boolean) => void;
}

/**
 * Limits the requests to a destination. Each admitted request takes a slot, which is free again `per` ms after the
 * request was made, or immediately if it was not made.
 */
export class RequestLimit {
  private requests!: number;
  private per!: number;
  /** Slots taken: recent requests, and admitted ones that are not made yet. */
  private taken = 0;
  /** When recent requests were made, oldest first. */
  private readonly made = new Fifo<{ at: number }>();
  private readonly waiting = new Fifo<Waiter>();
  /** Runs while requests wait. */
  private timer: NodeJS.Timeout | undefined;

  /** @param now returns a monotonic time, in ms */
  constructor(
    limit: DestinationRateLimit,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.change(limit);
  }

  /** Replaces the limit. Requests made before count towards the new one. */
  change({ requests, per }: DestinationRateLimit): void {
    this.requests = requests;
    this.per = per;
    this.admitWaiting();
  }

  /** Admits this number of requests if all may be made now; returns whether it did. */
  admits(count: number): boolean {
    this.admitWaiting();
    if (this.waiting.length > 0 || this.taken + count > this.requests) return false;
    this.taken += count;
    return true;
  }

  /** Returns how long this number of requests would wait, in ms, behind those that wait for as many; 0 if they may be made now. */
  waitOf(count: number): number {
    this.admitWaiting();
    const before = this.waiting.length * count + this.taken + count - this.requests; // slots that must become free
    if (before <= 0) return 0;
    const rounds = Math.floor((before - 1) / this.requests);
    // Admitted requests that are not made yet are made about now.
    const freed = this.made.at((before - 1) % this.requests)?.at ?? this.now();
    return Math.max(0, freed + this.per - this.now()) + rounds * this.per;
  }

  /** Resolves with true once this number of requests is admitted, in the order of calls; with false if waits end. */
  wait(count: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.waiting.push({ count, resolve });
      this.admitWaiting();
    });
  }

  /** Records that an admitted request is made now. */
  begin(): void {
    this.made.push({ at: this.now() });
    this.admitWaiting();
  }

  /** Records that an admitted request is not made. */
  release(): void {
    this.taken--;
    this.admitWaiting();
  }

  /** Declines all waiting requests. */
  endWaits(): void {
    for (const { resolve } of this.waiting.drain()) resolve(false);
    this.admitWaiting();
  }

  private admitWaiting(): void {
    const now = this.now();
    while ((this.made.peek()?.at ?? Infinity) + this.per <= now) {
      this.made.shift();
      this.taken--;
    }
    for (let next = this.waiting.peek(); next; next = this.waiting.peek()) {
      if (this.taken + next.count > this.requests) break;
      this.waiting.shift();
      this.taken += next.count;
      next.resolve(true);
    }
    this.setTimer(now);
  }

  private setTimer(now: number): void {
    if (this.waiting.length === 0) {
      clearTimeout(this.timer);
      this.timer = undefined;
      return;
    }
    const oldest = this.made.peek();
    if (this.timer || !oldest) return;
    const wait = Math.ceil(oldest.at + this.per - now);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.admitWaiting();
    }, wait).unref();
  }
}
