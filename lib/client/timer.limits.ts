/** Maximum delay of a timer, in ms. */
export const MAX_TIMER_DELAY = 2 ** 31 - 1;

/** Delay of a timer until a moment, in ms. If the delay is cut to the maximum, call this again when the timer fires. */
export function delayUntil(moment: number, now: number): number {
  return Math.min(Math.max(moment - now, 0), MAX_TIMER_DELAY);
}

/** Milliseconds since an arbitrary moment. Unlike `Date.now`, it does not change when the system clock is set. */
export function monotonicNow(): number {
  const [seconds, nanoseconds] = process.hrtime(); // Node 14 has no global `performance`
  return seconds * 1e3 + nanoseconds / 1e6;
}
