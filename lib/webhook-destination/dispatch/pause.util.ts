import type { DestinationOptions } from './destination.options.js';

/** A period in which a destination was paused. */
export interface Pause {
  /** When it was paused, in ms since the epoch. */
  from: number;
  /** When it was resumed, in ms since the epoch; absent while it is paused. */
  to?: number;
}

/** Since when an endpoint is disabled, and why. */
export interface Disablement {
  /** In ms since the epoch. */
  since: number;
  /**
   * `failing`: it failed for `portal.disableAfter` without a success. `gone`: it answered 410. `asked`: it answered with
   * the header `webhook-delivery: disable`. `paused`: its tenant paused it in the portal.
   */
  reason: 'failing' | 'gone' | 'asked' | 'paused';
}

/** A destination with its pauses, oldest first, and its state as an endpoint of the portal. */
export interface PausableDestination extends DestinationOptions {
  pauses?: readonly Pause[];
  /** Time of the first failure since the last success, in ms since the epoch. */
  failingSince?: number | undefined;
  disabled?: Disablement | undefined;
  /** The tenant that it belongs to. */
  tenant?: string | undefined;
}

/** Options that have no effect on the requests to a destination. */
const NOT_FOR_REQUESTS = ['name', 'integration', 'sources', 'types', 'events', 'metadata', 'failingSince', 'tenant'];

/** Maximum number of stored pauses of a destination: more than a retry window usually contains. */
const MAX_PAUSES = 1_000;

/** Returns whether the last pause has not ended. */
export function isPaused(pauses: readonly Pause[] = []): boolean {
  const last = pauses.at(-1);
  return last !== undefined && last.to === undefined;
}

/** Returns whether deliveries are sent to a destination now. */
export function isActive({ enabled, pauses, disabled }: PausableDestination): boolean {
  return enabled && !isPaused(pauses) && !disabled;
}

/** Returns whether deliveries are sent to two forms of a destination in the same way. */
export function sendsAlike(one: PausableDestination, other: PausableDestination): boolean {
  return one.transform === other.transform && sendingOf(one) === sendingOf(other);
}

/** Returns how much of the time between two moments is in at least one of the periods, in ms. */
export function timeWithin(periods: readonly Pause[], since: number, until: number): number {
  let time = 0;
  let counted = since;
  for (const { from, to = Infinity } of [...periods].sort((one, other) => one.from - other.from)) {
    const end = Math.min(to, until);
    time += Math.max(0, end - Math.max(from, counted));
    counted = Math.max(counted, end);
  }
  return time;
}

/**
 * Returns the pauses that a retry window may still contain: those after which the destination was active for at most
 * `retryWindow` ms in total.
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

function sendingOf(destination: PausableDestination): string {
  return JSON.stringify(Object.entries(destination).filter(([field]) => !NOT_FOR_REQUESTS.includes(field)));
}
