import type { IQueueBackend, JobJson, JobType } from 'bullmq';

import type { DeliveryState } from '../delivery-queue.interface.js';

/** Jobs read with one exchange. */
const CHUNK = 250;

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

/** Reads a queue's jobs of a state, chunk by chunk; those that move on meanwhile may be left out. */
export async function* scan(backend: IQueueBackend, state: DeliveryState): AsyncGenerator<JobJson[]> {
  for (const type of TYPES[state]) {
    const seen = new Set<string>();
    for (let start = 0; ; start += CHUNK) {
      const [ids = []] = (await backend.getRanges([type], start, start + CHUNK - 1)) as unknown as [string[]?];
      if (ids.length === 0) break;
      // What comes in meanwhile pushes jobs that were read already into the next chunk.
      const unread = ids.filter((id) => !seen.has(id));
      for (const id of unread) seen.add(id);
      yield await readJobs(backend, unread);
    }
  }
}

/** The jobs with these ids, as far as they are there. */
export async function readJobs(backend: IQueueBackend, ids: string[]): Promise<JobJson[]> {
  const jobs = await Promise.all(
    ids.map(async (id) => {
      const job = await backend.getJobData(id);
      return job && { ...job, id };
    }),
  );
  return jobs.filter((job) => job !== undefined);
}
