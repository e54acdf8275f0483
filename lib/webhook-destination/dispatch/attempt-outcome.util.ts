import type { DeliveryOptions } from './delivery.options.js';
import type { AttemptRecord } from '../queue/attempt-record.interface.js';
import { ADDRESS_NOT_ALLOWED, type Delivery, type DeliveryOutcome } from '../queue/delivery-queue.interface.js';
import type { SendResult } from './attempt.js';
import { nextAttemptAt } from './retry-schedule.util.js';
import { isFailure } from './url-outcome.js';

export const WINDOW_OVER = 'the retry window is over';

/**
 * Returns the outcome of a delivery from each URL's result of one attempt.
 *
 * @param declined number of URLs that got no request; they have not failed
 * @param startedAt when the attempt began, by the queue's time, in ms since the epoch
 * @param now returns the queue's time, in ms since the epoch
 * @param paused how long the destination was paused since the first attempt, in ms; it extends the retry window
 * @see docs/specification.md, "Delivery attempts"
 */
export function judgeAttempt(
  delivery: Readonly<Delivery>,
  sent: SendResult[],
  declined: number,
  options: DeliveryOptions,
  startedAt: number,
  now: () => number,
  paused: number,
): DeliveryOutcome {
  const attempt = { startedAt, results: sent.map(({ result }) => result) };
  if (sent.some(({ result }) => result.outcome === 'success')) return { state: 'delivered', attempt };

  const { attempts, firstAttemptAt = startedAt } = delivery;
  const ended = (outcome: string) => sent.filter(({ result }) => result.outcome === outcome);
  const failedUrls = [...delivery.failedUrls, ...ended('permanent').map(({ urlId }) => urlId)];
  const retryable = ended('temporary');
  if (retryable.length === 0 && declined > 0) {
    return { state: 'waiting', attempt, nextAttemptAt: now(), failedUrls, firstAttemptAt };
  }
  if (retryable.length === 0) {
    // Attempts before this window were made before the delivery was replayed.
    const ofWindow = attempts.filter((earlier) => earlier.startedAt >= firstAttemptAt);
    const reason = [...ofWindow, attempt].some(isRefused) ? ADDRESS_NOT_ALLOWED : 'every URL failed permanently';
    return { state: 'dead', attempt, reason, failedUrls };
  }

  const endedAt = now();
  const next = nextAttemptAt(
    {
      now: endedAt,
      attempts: attempts.length + 1,
      firstAttemptAt: firstAttemptAt + paused,
      // The earliest Retry-After applies, so one URL does not delay the others. It is converted to the queue's time.
      retryAfter: Math.min(...retryable.map(({ retryAfter }) => retryAfter ?? 0)) + endedAt - Date.now(),
    },
    options,
  );
  if (next === undefined) return { state: 'dead', attempt, reason: WINDOW_OVER, failedUrls };
  return { state: 'waiting', attempt, nextAttemptAt: next, failedUrls, firstAttemptAt };
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
