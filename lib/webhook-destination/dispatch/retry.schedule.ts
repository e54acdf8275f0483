import type { DeliveryOptions } from './delivery.options.js';

/** Share of a delay by which it varies at random, so that simultaneous retries spread out. */
const JITTER = 0.2;

/** How long before the window's end the last attempt is due, in ms, so that it can wait for a connection. */
const LAST_ATTEMPT_LEAD = 5_000;

/** The same as a share of the window, at most. */
const LAST_ATTEMPT_SHARE = 0.1;

/** Shortest wait before the last attempt, in ms. */
const MIN_LAST_WAIT = 1_000;

/** When the next attempt of a delivery is due. */
export interface RetryState {
  /** In ms since the epoch. */
  now: number;
  /** Attempts that ended so far, this one included. */
  attempts: number;
  /** When the first attempt began, in ms since the epoch. */
  firstAttemptAt: number;
  /** The receiver's `Retry-After`, in ms since the epoch. */
  retryAfter?: number | undefined;
}

/** The moment of a delivery's last attempt, just before the end of the window that began with the first. */
export function lastAttemptAt(firstAttemptAt: number, retryWindow: number): number {
  return firstAttemptAt + retryWindow - Math.min(LAST_ATTEMPT_LEAD, retryWindow * LAST_ATTEMPT_SHARE);
}

/**
 * The moment of the next attempt, or undefined when the window is over: a delay that doubles with each attempt, with
 * jitter, raised by the receiver's `Retry-After`; what would fall after the last moment is tried then.
 *
 * @see docs/specification.md, "Retries"
 */
export function nextAttemptAt(
  { now, attempts, firstAttemptAt, retryAfter }: RetryState,
  { initialRetryDelay, maxRetryDelay, retryWindow }: RetryOptions,
  random: () => number = Math.random,
): number | undefined {
  const delay = Math.min(initialRetryDelay * 2 ** (attempts - 1), maxRetryDelay);
  const wished = Math.max(now + delay * (1 + JITTER * (2 * random() - 1)), retryAfter ?? 0);
  const last = Math.floor(lastAttemptAt(firstAttemptAt, retryWindow));
  if (wished <= last) return Math.round(wished);
  return last - now >= Math.min(initialRetryDelay, MIN_LAST_WAIT) ? last : undefined;
}

type RetryOptions = Pick<DeliveryOptions, 'initialRetryDelay' | 'maxRetryDelay' | 'retryWindow'>;
