import { throwFaults } from '../../common/options.error.js';
import type { DeliveryQueue, DeliveryQueueFactory } from './delivery.queue.js';

/** Rule of the option `queue`, worded for error messages. */
export const QUEUE_RULE = 'be a queue, such as sqliteQueue()';

/**
 * Creates the queue that the options select.
 * @throws {OptionsError} if the option is another function, such as `sqliteQueue` itself, which returns no queue
 */
export function createQueue(factory: DeliveryQueueFactory): DeliveryQueue {
  const queue = factory() as Partial<DeliveryQueue> | undefined;
  if (typeof queue?.open !== 'function') throwFaults('WebhookDestinationModule', [`queue must ${QUEUE_RULE}`]);
  return queue as DeliveryQueue;
}
