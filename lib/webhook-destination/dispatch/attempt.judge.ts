import type { DeliveryOptions } from '../options/delivery.options.js';
import type { Delivery, DeliveryOutcome } from '../queue/delivery-queue.interface.js';
import type { SendResult } from './destination.sender.js';
import { nextAttemptAt } from './retry.schedule.js';

/** What becomes of a delivery after an attempt that began at `startedAt` and was taken so by its URLs (§4.1, §7). */
export function judgeAttempt(
  delivery: Readonly<Delivery>,
  sent: SendResult[],
  options: DeliveryOptions,
  startedAt: number,
): DeliveryOutcome {
  const attempt = { startedAt, results: sent.map(({ result }) => result) };
  const ended = (outcome: string) => sent.filter(({ result }) => result.outcome === outcome);
  if (ended('success').length > 0) return { state: 'delivered', attempt };

  const failedUrls = [...delivery.failedUrls, ...ended('permanent').map(({ url }) => url)];
  const retryable = ended('temporary');
  if (retryable.length === 0) return { state: 'dead', attempt, reason: 'every URL failed for good', failedUrls };

  const next = nextAttemptAt(
    {
      now: Date.now(),
      attempts: delivery.attempts.length + 1,
      deadline: (delivery.firstAttemptAt ?? startedAt) + options.retryWindow,
      // One URL's wish does not hold up the others: the earliest counts.
      retryAfter: Math.min(...retryable.map(({ retryAfter }) => retryAfter ?? 0)),
    },
    options,
  );
  if (next === undefined) return { state: 'dead', attempt, reason: 'the retry window is over', failedUrls };
  return { state: 'waiting', attempt, nextAttemptAt: next, failedUrls };
}
