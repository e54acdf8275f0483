import type { DestinationOptions } from './destination.options.js';

/** A time in which a destination was paused. */
export interface Pause {
  /** When it was paused, in ms since the epoch. */
  from: number;
  /** When it was resumed, in ms since the epoch; absent while it is paused. */
  to?: number;
}

/** A destination, with the times in which it was paused, the oldest first. */
export interface PausableDestination extends DestinationOptions {
  pauses?: readonly Pause[];
}

/** Most pauses of one destination that are kept: more than a retry window usually sees. */
const MAX_PAUSES = 1_000;

/** Whether the last of these pauses goes on. */
export function isPaused(pauses: readonly Pause[] = []): boolean {
  const last = pauses.at(-1);
  return last !== undefined && last.to === undefined;
}

/** How much of the time between two moments is paused, in ms. */
export function pausedTime(pauses: readonly Pause[], since: number, until: number): number {
  let paused = 0;
  for (const { from, to = Infinity } of pauses) paused += Math.max(0, Math.min(to, until) - Math.max(from, since));
  return paused;
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
