import type { Pause } from './pause.interface.js';

/** Most pauses of one destination that are kept: more than a retry window usually sees. */
const MAX_PAUSES = 1_000;

export function isPaused(pauses: Pause[] = []): boolean {
  const last = pauses.at(-1);
  return last !== undefined && last.to === undefined;
}

/**
 * The pauses that a retry window may still contain: those after which the destination was not paused for less than
 * `retryWindow` ms altogether.
 */
export function recentPauses(pauses: Pause[], retryWindow: number, now: number): Pause[] {
  let unpaused = 0;
  let end = now;
  let first = pauses.length;
  while (first > 0 && pauses.length - first < MAX_PAUSES) {
    const { from, to = now } = pauses[first - 1]!;
    unpaused += end - to;
    if (unpaused > retryWindow) break;
    end = from;
    first--;
  }
  return pauses.slice(first);
}
