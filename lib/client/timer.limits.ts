/** Longest delay that a timer takes, in ms. */
export const MAX_TIMER_DELAY = 2 ** 31 - 1;

/** Delay of a timer until a moment, in ms; one further away than a timer reaches is to be asked for again. */
export function delayUntil(moment: number, now: number): number {
  return Math.min(Math.max(moment - now, 0), MAX_TIMER_DELAY);
}
