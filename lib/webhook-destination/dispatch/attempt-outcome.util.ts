import type { DeliveryOptions } from './delivery.options.js';
import type { AttemptRecord } from '../queue/attempt-record.interface.js';
import { ADDRESS_NOT_ALLOWED, type DeliveryOutcome } from '../queue/delivery-queue.interface.js';
import type { SendResult } from './attempt.js';
import type { LeasedAttempt } from './leased.attempt.js';
import { nextAttemptAt } from './retry-schedule.util.js';
import { isFailure } from './url-outcome.js';

const WINDOW_OVER = 'the retry window is over';

/** Statuses with which a `Retry-After` is for all requests, and not for one message. */
const PAUSING_STATUS = new Set([429, 503]);

/**
 * Returns the outcome of a delivery from each URL's result of one attempt.
 *
 * @param now returns the queue's time, in ms since the epoch
 * @param extension how much longer the retry window is than `retryWindow`, in ms
 * @see docs/specification.md, "Delivery attempts"
 */
export function judgeAttempt(
  { delivery, declined, startedAt, isLast }: Pick<LeasedAttempt, 'delivery' | 'declined' | 'startedAt' | 'isLast'>,
  sent: SendResult[],
  options: DeliveryOptions,
  now: () => number,
  extension: number,
): DeliveryOutcome {
  const attempt = { startedAt, results: sent.map(({ result }) => result) };
  if (sent.some(({ result }) => result.outcome === 'success')) return { state: 'delivered', attempt };

  const { attempts, firstAttemptAt = startedAt } = delivery;
  const ended = (outcome: string) => sent.filter(({ result }) => result.outcome === outcome);
  const failedUrls = [...delivery.failedUrls, ...ended('permanent').map(({ urlId }) => urlId)];
  const retryable = ended('temporary');
  if (retryable.length === 0 && declined > 0) return { state: 'waiting', attempt, nextAttemptAt: now(), failedUrls };
  // Attempts before this window were made before the delivery was replayed.
  const ofWindow = [...attempts.filter((earlier) => earlier.startedAt >= firstAttemptAt), attempt];
  if (retryable.length === 0) {
    const reason = ofWindow.some(isRefused) ? ADDRESS_NOT_ALLOWED : 'every URL failed permanently';
    return { state: 'dead', attempt, reason, failedUrls };
  }

  const endedAt = now();
  const next = nextAttemptAt(
    {
      startedAt,
      now: endedAt,
      attempts: ofWindow.length,
      firstAttemptAt: firstAttemptAt + extension,
      // The earliest Retry-After applies, so one URL does not delay the others. It is converted to the queue's time.
      retryAfter: Math.min(...retryable.map(({ retryAfter }) => retryAfter ?? 0)) + endedAt - Date.now(),
    },
    options,
  );
  if (isLast || next === undefined) return { state: 'dead', attempt, reason: WINDOW_OVER, failedUrls };
  return { state: 'waiting', attempt, nextAttemptAt: next, failedUrls };
}

/**
 * Returns for how long the receivers of a failed attempt asked for no requests, in ms. If one of several URLs may be
 * tried earlier, that is until then; 0 if one of them did not ask.
 */
export function requestedPause(sent: SendResult[]): number {
  const retryable = sent.filter(({ result }) => result.outcome === 'temporary');
  if (retryable.length === 0) return 0;
  const asked = retryable.map(({ result, retryAfter = 0 }) =>
    PAUSING_STATUS.has(result.status ?? 0) ? retryAfter : 0,
  );
  return Math.max(0, Math.min(...asked) - Date.now());
}

/** Whether the network policy stopped a request of the attempt. */
function isRefused({ results }: AttemptRecord): boolean {
  return results.some(({ error }) => error?.startsWith(ADDRESS_NOT_ALLOWED));
}

/**
 * Returns whether a receiver refused this message and no URL failed: the destination is then up, even if the message is
 * retried. Otherwise one kind of message could hold back all others for hours.
 */
export function refuses(sent: SendResult[]): boolean {
  return (
    sent.some(({ result }) => result.status !== undefined) &&
    sent.every(({ result: { status, outcome } }) =>
      status === undefined ? outcome === 'permanent' : !isFailure(status),
    )
  );
}
