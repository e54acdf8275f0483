import type { DeliveryOptions } from './delivery.options.js';

/** Share of a delay by which it varies at random, so that retries of one moment spread out. */
const JITTER = 0.2;

/** How long before the window's end the last attempt is due, in ms, so that it can wait for its turn; and that as a share of the window at most. */
const LAST_ATTEMPT_LEAD = 5_000;
const LAST_ATTEMPT_SHARE = 0.1;

/** Shortest wait before the last attempt, in ms: what just failed is not tried once more at the window's very end. */
const MIN_LAST_WAIT = 1_000;

/** When the next attempt of a delivery is due. */
export interface RetryState {
  /** The moment of the question, in ms since the epoch. */
  now: number;
  /** Attempts that ended so far, this one included. */
  attempts: number;
  /** When the first attempt began, in ms since the epoch. */
  firstAttemptAt: number;
  /** The receiver's wish, in ms since the epoch. */
  retryAfter?: number | undefined;
}

/** The moment of a delivery's last attempt, just inside the window that its first one opened (§8). */
export function lastAttemptAt(firstAttemptAt: number, retryWindow: number): number {
  return firstAttemptAt + retryWindow - Math.min(LAST_ATTEMPT_LEAD, retryWindow * LAST_ATTEMPT_SHARE);
}

/**
 * The moment of the next attempt, or undefined when the window is over: a delay that doubles with each attempt, with
 * jitter, raised by the receiver's `Retry-After`; what would fall after the last moment is tried then (§7, §8).
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
