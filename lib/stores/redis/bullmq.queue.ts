import type { DeliveryQueueFactory } from '../../webhook-destination/queue/delivery.queue.js';
import { type BullmqQueueOptions, type RedisQueueOptions, toBullmqOptions } from './redis.options.js';
import { SharedQueue, sharedQueueFactory } from '../shared/shared.queue.js';
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
  return new SharedQueue(new BullmqStore(options), options.retention, 'Redis');
}
