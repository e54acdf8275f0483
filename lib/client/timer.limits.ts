/** Maximum delay of a timer, in ms. */
export const MAX_TIMER_DELAY = 2 ** 31 - 1;

/** Delay of a timer until a moment, in ms. If the delay is cut to the maximum, call this again when the timer fires. */
export function delayUntil(moment: number, now: number): number {
  return Math.min(Math.max(moment - now, 0), MAX_TIMER_DELAY);
}
