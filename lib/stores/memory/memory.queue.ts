import type { DeliveryQueueFactory } from '../../webhook-destination/queue/delivery.queue.js';
import { DeliveryQueue } from '../../webhook-destination/queue/delivery.queue.js';
import {
  QueueOptions,
  type RetentionOptions,
  toQueueOptions,
} from '../../webhook-destination/queue/retention.options.js';
import { MemoryStore } from './memory.store.js';

/** Default of `retention.delivered.bytes`. */
const DELIVERED_BYTES = 50_000_000;

/** Options of {@link memoryQueue}. */
export interface MemoryQueueOptions {
  /** How long records of ended deliveries are kept. Default: the default of each kind of record. */
  retention?: RetentionOptions;
}

/**
 * Creates a queue in memory, for tests. Its deliveries are lost when the process ends; it logs a warning when it opens.
 * @throws {OptionsError} that names the option at fault
 */
export function memoryQueue(options: MemoryQueueOptions = {}): DeliveryQueueFactory {
  const { retention } = toQueueOptions('memoryQueue', QueueOptions, options, () => DELIVERED_BYTES);
  return () => new DeliveryQueue(new MemoryStore(retention.messageIds), retention);
}
