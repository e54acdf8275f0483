/**
 * The queue on Redis or PostgreSQL.
 *
 * @module nestjs-analytics-relay/bullmq
 */

export type { BullmqQueueOptions, QueueBackend } from '../webhook-destination/queue/shared/shared-queue.options.js';
export { bullmqQueue, migrateBullmqQueue } from '../webhook-destination/queue/shared/shared-queue.factory.js';
