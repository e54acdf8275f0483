import type { DeliveryQueueFactory } from '../delivery-queue.interface.js';
import { EmbeddedQueue } from '../embedded/embedded.queue.js';
import { type RetentionOptions, toRetention } from '../retention.options.js';
import { MemoryStore } from './memory.store.js';

/** Options of {@link memoryQueue}. */
export interface MemoryQueueOptions {
  /** How long records of ended deliveries are kept. */
  retention?: RetentionOptions;
}

/**
 * A queue in memory, for tests: what it holds is lost when the process ends, and it says so when it opens.
 * @throws {Error} that names the option at fault
 */
export function memoryQueue({ retention }: MemoryQueueOptions = {}): DeliveryQueueFactory {
  const bounds = toRetention('memoryQueue', retention);
  return () => new EmbeddedQueue(new MemoryStore(bounds.messageIds), bounds);
}
