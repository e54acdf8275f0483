import type { DeliveryQueueFactory } from '../delivery-queue.interface.js';
import { type BullmqQueueOptions, type RedisQueueOptions, toBullmqOptions } from '../redis/redis.options.js';
import type { SharedQueue } from '../shared/shared-queue.interface.js';
import { createSharedQueue, sharedQueueFactory } from '../shared/shared-store.queue.js';
import { BullmqStore } from './bullmq.store.js';

/**
 * Creates a queue on Redis that many processes share: a BullMQ queue for each destination. Needs `bullmq` and
 * `ioredis`; `open` rejects when one is missing or Redis cannot be reached.
 * @throws {OptionsError} that names the option at fault
 */
export function bullmqQueue(options: BullmqQueueOptions): DeliveryQueueFactory {
  const checked = toBullmqOptions(options);
  return sharedQueueFactory(() => createBullmqQueue(checked));
}

/** @internal */
export function createBullmqQueue(options: RedisQueueOptions): SharedQueue {
  return createSharedQueue(new BullmqStore(options), options.retention, 'Redis');
}
