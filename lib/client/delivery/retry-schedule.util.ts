import { parseRetryAfter } from '../retry-after.util.js';

const INITIAL_DELAY = 500;
const MAX_DELAY = 60_000;
const MIN_RETRY_AFTER = 1_000;
const MAX_RETRY_AFTER = 300_000;

/** Header with the number of earlier attempts; absent from a first attempt. */
export const RETRY_HEADER = 'X-Retry-Count';

const RETRIED_4XX = new Set([408, 410, 429, 460]);
const FINAL_5XX = new Set([501, 505, 511]);

export function isDelivered(status: number): boolean {
  return status >= 200 && status < 400;
}

export function isRetried(status: number): boolean {
  return status >= 500 ? !FINAL_5XX.has(status) : RETRIED_4XX.has(status);
}

/** Milliseconds to wait before a retry (1, 2, …): 500, doubled each time, plus up to 50 %, at most 60,000. */
export function backoffDelay(retry: number): number {
  const jitter = 1 + Math.random() / 2;
  return Math.min(INITIAL_DELAY * 2 ** (retry - 1) * jitter, MAX_DELAY);
}

/**
 * Milliseconds to wait according to a `Retry-After` header, in seconds or as an HTTP date: at least one second and at
 * most five minutes. Returns undefined if the header is neither.
 */
export function retryAfterDelay(header: string | undefined): number | undefined {
  const now = Date.now();
  const moment = parseRetryAfter(header, now);
  if (moment === undefined) return undefined;
  return Math.min(Math.max(moment - now, MIN_RETRY_AFTER), MAX_RETRY_AFTER);
}
