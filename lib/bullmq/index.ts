export type { BullmqQueueOptions, QueueBackend } from '../webhook-destination/queue/shared/bullmq.options.js';
export { bullmqQueue, migrateBullmqQueue } from '../webhook-destination/queue/shared/bullmq.queue.js';
