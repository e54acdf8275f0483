import type { DeliveryOptions } from './delivery.options.js';
import type { AttemptRecord } from '../queue/attempt.record.js';
import { ADDRESS_NOT_ALLOWED } from '../queue/dead.reason.js';
import type { Delivery, DeliveryOutcome } from '../queue/delivery-queue.interface.js';
import type { SendResult } from './destination.sender.js';
import { nextAttemptAt } from './retry.schedule.js';

/** Why a delivery is given up whose time is over. */
export const WINDOW_OVER = 'the retry window is over';

/**
 * What becomes of a delivery after an attempt that began at `startedAt` and was taken so by its URLs (§4.1, §7).
 *
 * @param startedAt and `now` by the queue's time, in ms since the epoch
 */
export function judgeAttempt(
  delivery: Readonly<Delivery>,
  sent: SendResult[],
  options: DeliveryOptions,
  startedAt: number,
  now: number,
): DeliveryOutcome {
  const attempt = { startedAt, results: sent.map(({ result }) => result) };
  if (sent.some(({ result }) => result.outcome === 'success')) return { state: 'delivered', attempt };

  const ended = (outcome: string) => sent.filter(({ result }) => result.outcome === outcome);
  const failedUrls = [...delivery.failedUrls, ...ended('permanent').map(({ urlId }) => urlId)];
  const retryable = ended('temporary');
  if (retryable.length === 0) {
    const { attempts, firstAttemptAt = startedAt } = delivery;
    // Those before the window are of the delivery's life before it was replayed.
    const ofWindow = attempts.filter((earlier) => earlier.startedAt >= firstAttemptAt);
    const reason = [...ofWindow, attempt].some(isRefused) ? ADDRESS_NOT_ALLOWED : 'every URL failed for good';
    return { state: 'dead', attempt, reason, failedUrls };
  }

  const next = nextAttemptAt(
    {
      now,
      attempts: delivery.attempts.length + 1,
      firstAttemptAt: delivery.firstAttemptAt ?? startedAt,
      // One URL's wish does not hold up the others: the earliest counts. It is by the system's clock.
      retryAfter: Math.min(...retryable.map(({ retryAfter }) => retryAfter ?? 0)) + now - Date.now(),
    },
    options,
  );
  if (next === undefined) return { state: 'dead', attempt, reason: WINDOW_OVER, failedUrls };
  return { state: 'waiting', attempt, nextAttemptAt: next, failedUrls };
}

/** Whether the network policy stopped a request of the attempt: that URL may have taken it. */
function isRefused({ results }: AttemptRecord): boolean {
  return results.some(({ error }) => error?.startsWith(ADDRESS_NOT_ALLOWED));
}
