/**
 * The queue on Redis.
 *
 * @module nestjs-analytics-relay/bullmq
 */

export type { BullmqQueueOptions } from '../webhook-destination/queue/redis/redis.options.js';
export { bullmqQueue } from '../webhook-destination/queue/bullmq/bullmq.queue.js';
