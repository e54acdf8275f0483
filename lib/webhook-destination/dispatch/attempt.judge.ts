import type { DeliveryOptions } from '../options/delivery.options.js';
import type { Delivery, DeliveryOutcome } from '../queue/delivery-queue.interface.js';
import type { SendResult } from './destination.sender.js';
import { nextAttemptAt } from './retry.schedule.js';

/** Why a delivery is given up whose time is over. */
export const WINDOW_OVER = 'the retry window is over';

/** What becomes of a delivery after an attempt that began at `startedAt` and was taken so by its URLs (§4.1, §7). */
export function judgeAttempt(
  delivery: Readonly<Delivery>,
  sent: SendResult[],
  options: DeliveryOptions,
  startedAt: number,
): DeliveryOutcome {
  const attempt = { startedAt, results: sent.map(({ result }) => result) };
  if (sent.some(({ result }) => result.outcome === 'success')) return { state: 'delivered', attempt };

  const ended = (outcome: string) => sent.filter(({ result }) => result.outcome === outcome);
  const failedUrls = [...delivery.failedUrls, ...ended('permanent').map(({ urlId }) => urlId)];
  const retryable = ended('temporary');
  if (retryable.length === 0) return { state: 'dead', attempt, reason: 'every URL failed for good', failedUrls };

  const next = nextAttemptAt(
    {
      now: Date.now(),
      attempts: delivery.attempts.length + 1,
      firstAttemptAt: delivery.firstAttemptAt ?? startedAt,
      // One URL's wish does not hold up the others: the earliest counts.
      retryAfter: Math.min(...retryable.map(({ retryAfter }) => retryAfter ?? 0)),
    },
    options,
  );
  if (next === undefined) return { state: 'dead', attempt, reason: WINDOW_OVER, failedUrls };
  return { state: 'waiting', attempt, nextAttemptAt: next, failedUrls };
}
