/** Maximum delay of a timer, in ms. */
export const MAX_TIMER_DELAY = 2 ** 31 - 1;

/** Maximum time by which a deadline is extended after a pause of the process, in ms. */
const MAX_GRACE = 250;

/** Delay of a timer until a moment, in ms. If the delay is cut to the maximum, call this again when the timer fires. */
export function delayUntil(moment: number, now: number): number {
  return Math.min(Math.max(moment - now, 0), MAX_TIMER_DELAY);
}

/** Milliseconds since an arbitrary moment. Unlike `Date.now`, it does not change when the system clock is set. */
export function monotonicNow(): number {
  const [seconds, nanoseconds] = process.hrtime(); // Node 14 has no global `performance`
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * Calls a function after this time, in ms. After a pause of the process, as long as it is late, but at most 250 ms, is
 * left to read what has arrived meanwhile: timers fire before.
 *
 * @returns a function that stops it
 */
export function startDeadline(time: number, onEnd: () => void): () => void {
  const startedAt = monotonicNow();
  let timer = setTimeout(() => {
    const late = monotonicNow() - startedAt - time;
    if (late < 1) return onEnd();
    timer = setTimeout(onEnd, Math.min(late, MAX_GRACE));
  }, time);
  return () => clearTimeout(timer);
}
