import type { IQueueBackend, JobType } from 'bullmq';

import type { DeliveryState } from '../delivery-queue.interface.js';

/** Where BullMQ keeps the jobs of each state; a retry that is due counts as queued. */
export const TYPES: Record<DeliveryState, JobType[]> = {
  queued: ['wait', 'prioritized'],
  delivering: ['active'],
  waiting: ['delayed'],
  delivered: ['completed'],
  dead: ['failed'],
};

/** The states, in the order in which a delivery goes through them. */
export const STATES = Object.keys(TYPES) as DeliveryState[];

/** The state of one job, if it is there. */
export async function readState(backend: IQueueBackend, jobId: string): Promise<DeliveryState | undefined> {
  const type = await backend.getState(jobId);
  return STATES.find((state) => TYPES[state].includes(type === 'waiting' ? 'wait' : (type as JobType)));
}
