import type { DeliveryOptions } from '../options/delivery.options.js';
import type { Delivery, DeliveryOutcome } from '../queue/delivery-queue.interface.js';
import type { SendResult } from './destination.sender.js';
import { nextAttemptAt } from './retry.schedule.js';

/** What becomes of a delivery after an attempt that started at `startedAt` and was taken so by its URLs (§4.1, §7). */
export function judgeAttempt(
  delivery: Readonly<Delivery>,
  results: SendResult[],
  options: DeliveryOptions,
  startedAt: number,
): DeliveryOutcome {
  if (results.some(({ outcome }) => outcome === 'success')) return { state: 'delivered' };
  const deadline = delivery.deadline ?? startedAt + options.retryWindow;
  const failed = results.filter(({ outcome }) => outcome === 'permanent');
  const failedUrls = [...delivery.failedUrls, ...failed.map(({ target }) => target.url)];
  const retryable = results.filter(({ outcome }) => outcome === 'temporary');
  if (retryable.length === 0) return { state: 'dead', reason: 'every URL failed for good', deadline, failedUrls };

  const wishes = retryable.map(({ retryAfter }) => retryAfter ?? 0);
  const next = nextAttemptAt(
    // One URL's wish does not hold up the others: the earliest counts.
    { now: Date.now(), attempts: delivery.attempts + 1, deadline, retryAfter: Math.min(...wishes) },
    options,
  );
  if (next === undefined) return { state: 'dead', reason: 'the retry window is over', deadline, failedUrls };
  return { state: 'waiting', nextAttemptAt: next, deadline, failedUrls };
}
