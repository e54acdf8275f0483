/** A time in which a destination was paused, in ms since the epoch; without `to`, it still is. */
export interface Pause {
  from: number;
  to?: number;
}

/** How much of the time between two moments is paused, in ms. */
export function pausedTime(pauses: readonly Pause[], since: number, until: number): number {
  let paused = 0;
  for (const { from, to = Infinity } of pauses) paused += Math.max(0, Math.min(to, until) - Math.max(from, since));
  return paused;
}
