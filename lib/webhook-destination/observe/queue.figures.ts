import type { DeliveryCount, KeptSince, OldestDelivery } from '../queue/delivery.interface.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';

/** How long a result is reused, as a multiple of the time that it took. */
const REUSE = 300;

/** Maximum time for which a result is reused, in ms. */
const MAX_REUSE = 15_000;

/** Delivery counts of a queue, its oldest deliveries, and how far back its records reach. */
export interface QueueFigures {
  counts(): Promise<DeliveryCount[]>;
  oldest(): Promise<OldestDelivery[]>;
  keptSince(): Promise<KeptSince[]>;
}

/** Creates figures that metrics, health and the admin API share, so several callers read the queue no more than one. */
export function figuresOf(queue: DeliveryQueue): QueueFigures {
  return {
    counts: shareCalls(() => queue.counts()),
    oldest: shareCalls(() => queue.oldest()),
    keptSince: shareCalls(() => queue.keptSince()),
  };
}

/** Returns when the oldest open delivery was accepted, in ms since the epoch; undefined if there is none. */
export async function firstAcceptedAt(figures: QueueFigures): Promise<number | undefined> {
  const oldest = await figures.oldest();
  return oldest.length === 0
    ? undefined
    : oldest.reduce((first, { acceptedAt }) => Math.min(first, acceptedAt), Infinity);
}

/**
 * Shares one call among concurrent callers, then reuses its result; the result of a slow call is reused for longer.
 * However many callers there are, the function is busy for 0.3 % of the time, if a call takes less than 50 ms.
 */
export function shareCalls<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let until = Infinity;
  return () => {
    if (answer && performance.now() < until) return answer;
    const began = performance.now();
    until = Infinity;
    const asked = (async () => ask())(); // rejects also if `ask` throws
    answer = asked;
    asked.then(
      () => {
        const now = performance.now();
        until = now + Math.min((now - began) * REUSE, MAX_REUSE);
      },
      () => (answer = undefined),
    );
    return asked;
  };
}
