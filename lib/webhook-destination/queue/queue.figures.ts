import type { DeliveryCount, DeliveryQueue, OldestDelivery } from './delivery-queue.interface.js';
import { shareCalls } from './shared-call.util.js';

/** Delivery counts and oldest deliveries of a queue. */
export interface QueueFigures {
  counts(): Promise<DeliveryCount[]>;
  /** Empty for an engine without `oldest`. */
  oldest(): Promise<OldestDelivery[]>;
}

/** Creates figures that metrics, health and the admin API share, so several callers read the queue no more than one. */
export function figuresOf(queue: DeliveryQueue): QueueFigures {
  return {
    counts: shareCalls(() => queue.counts()),
    oldest: shareCalls(() => queue.oldest?.() ?? Promise.resolve([])),
  };
}

/** Returns when the oldest open delivery was accepted, in ms since the epoch; undefined if there is none. */
export async function firstAcceptedAt(figures: QueueFigures): Promise<number | undefined> {
  const oldest = await figures.oldest();
  return oldest.length === 0
    ? undefined
    : oldest.reduce((first, { acceptedAt }) => Math.min(first, acceptedAt), Infinity);
}
