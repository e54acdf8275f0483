import type { DeliveryOptions } from './delivery.options.js';

/** Fraction by which a delay varies at random, so simultaneous retries spread out. */
const JITTER = 0.2;

/** How long before the window's end the last attempt is due, in ms, so it can wait for a connection. */
const LAST_ATTEMPT_LEAD = 5_000;

/** Maximum of that lead, as a fraction of the window. */
const LAST_ATTEMPT_SHARE = 0.1;

/** Shortest wait before the last attempt, in ms. */
const MIN_LAST_WAIT = 1_000;

/** State of a delivery that determines its next attempt. */
interface RetryState {
  /** When the last attempt began, in ms since the epoch. */
  startedAt: number;
  /** When it ended: the current time, in ms since the epoch. */
  now: number;
  /** Number of finished attempts in the window, including this one. */
  attempts: number;
  /** When the window began, in ms since the epoch. */
  firstAttemptAt: number;
  /** The receiver's `Retry-After`, in ms since the epoch. */
  retryAfter?: number | undefined;
}

/** Returns the time of a delivery's last attempt, just before the end of the window that began with the first. */
export function lastAttemptAt(firstAttemptAt: number, retryWindow: number): number {
  return firstAttemptAt + retryWindow - Math.min(LAST_ATTEMPT_LEAD, retryWindow * LAST_ATTEMPT_SHARE);
}

/**
 * Returns the time of the next attempt; undefined if this one was the last of the window. The delay doubles with each
 * attempt, has jitter, and is extended by the receiver's `Retry-After`. An attempt that would come after the last time
 * is made at that time.
 *
 * @see docs/specification.md, "Retries"
 */
export function nextAttemptAt(
  { startedAt, now, attempts, firstAttemptAt, retryAfter }: RetryState,
  { initialRetryDelay, maxRetryDelay, retryWindow, timeout }: RetryOptions,
  random: () => number = Math.random,
): number | undefined {
  const delay = Math.min(initialRetryDelay * 2 ** (attempts - 1), maxRetryDelay);
  const wished = Math.max(now + delay * (1 + JITTER * (2 * random() - 1)), retryAfter ?? 0);
  const last = Math.floor(lastAttemptAt(firstAttemptAt, retryWindow));
  if (wished <= last) return Math.round(wished);
  // An attempt that seems to have taken longer than its timeout was in flight while the process was stopped.
  const ended = Math.min(now, startedAt + timeout);
  return last - ended >= Math.min(initialRetryDelay, MIN_LAST_WAIT) ? Math.max(last, now) : undefined;
}

type RetryOptions = Pick<DeliveryOptions, 'initialRetryDelay' | 'maxRetryDelay' | 'retryWindow' | 'timeout'>;
