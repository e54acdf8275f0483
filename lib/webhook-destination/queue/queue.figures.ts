import { sparing } from '../../common/sparing.util.js';
import type { DeliveryCount, DeliveryQueue, OldestDelivery } from './delivery-queue.interface.js';

/** How much a queue holds, and for how long. */
export interface QueueFigures {
  counts(): Promise<DeliveryCount[]>;
  /** Empty with an engine that does not know. */
  oldest(): Promise<OldestDelivery[]>;
}

/** One for metrics, health and the admin API: however many ask, the queue is read as often as for one of them. */
export function figuresOf(queue: DeliveryQueue): QueueFigures {
  return {
    counts: sparing(() => queue.counts()),
    oldest: sparing(() => queue.oldest?.() ?? Promise.resolve([])),
  };
}

/** When the first open delivery was accepted, in ms since the epoch; undefined if there is none. */
export async function firstAcceptedAt(figures: QueueFigures): Promise<number | undefined> {
  const oldest = await figures.oldest();
  return oldest.length === 0
    ? undefined
    : oldest.reduce((first, { acceptedAt }) => Math.min(first, acceptedAt), Infinity);
}
