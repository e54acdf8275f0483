/**
 * The queue on Redis.
 *
 * @module nestjs-analytics-relay/bullmq
 */

export type { BullmqQueueOptions } from '../stores/redis/redis.options.js';
export { bullmqQueue } from '../stores/redis/bullmq.queue.js';
