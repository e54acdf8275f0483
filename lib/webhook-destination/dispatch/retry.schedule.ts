import type { DeliveryOptions } from '../options/delivery.options.js';

/** Share of a delay by which it varies at random, so that retries of one moment spread out. */
const JITTER = 0.2;

/** Shortest wait before the last attempt, in ms: what just failed is not tried once more at the window's very end. */
const MIN_LAST_WAIT = 1_000;

/** When the next attempt of a delivery is due. */
export interface RetryState {
  /** The moment of the question, in ms since the epoch. */
  now: number;
  /** Attempts that ended so far, this one included. */
  attempts: number;
  /** When the delivery is given up, in ms since the epoch. */
  deadline: number;
  /** The receiver's wish, in ms since the epoch. */
  retryAfter?: number | undefined;
}

/**
 * The moment of the next attempt, or undefined when the window is over: a delay that doubles with each attempt, with
 * jitter, raised by the receiver's `Retry-After`; the last attempt is placed just inside the window (§7, §8).
 */
export function nextAttemptAt(
  { now, attempts, deadline, retryAfter }: RetryState,
  { initialRetryDelay, maxRetryDelay }: Pick<DeliveryOptions, 'initialRetryDelay' | 'maxRetryDelay'>,
  random: () => number = Math.random,
): number | undefined {
  const delay = Math.min(initialRetryDelay * 2 ** (attempts - 1), maxRetryDelay);
  const wished = Math.max(now + delay * (1 + JITTER * (2 * random() - 1)), retryAfter ?? 0);
  const last = deadline - 1;
  if (wished <= last) return Math.round(wished);
  return last - now >= Math.min(initialRetryDelay, MIN_LAST_WAIT) ? last : undefined;
}

/** The moment that a `Retry-After` header names, as seconds or as a date, in ms since the epoch. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return now + Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : date;
}
