export type { BullmqQueueOptions, QueueBackend } from '../webhook-destination/queue/bullmq/bullmq.options.js';
export { bullmqQueue, migrateBullmqQueue } from '../webhook-destination/queue/bullmq/bullmq.queue.js';
