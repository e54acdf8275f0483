import type { DeliveryQueue, DeliveryQueueFactory } from 'nestjs-analytics-relay';

import type { Afterwards } from './clean-ups.js';

/** Creates a queue and opens it until the end of the test. */
export async function openQueue(afterwards: Afterwards, factory: DeliveryQueueFactory): Promise<DeliveryQueue> {
  const queue = factory();
  await queue.open();
  afterwards(() => queue.close());
  return queue;
}
