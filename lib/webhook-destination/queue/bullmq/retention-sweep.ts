import type { JobType } from 'bullmq';

import { errorMessage } from '../../../common/error.util.js';
import type { Retention, RetentionBound } from '../retention.options.js';
import { seqOf } from './job.codec.js';
import type { DestinationJobs, SeenDelivery, SharedStore, StoredJob } from './shared-store.interface.js';

/** Records removed with one exchange. */
const CHUNK = 250;

/** Removes a queue's records past their retention. */
export async function sweepJobs(store: SharedStore, queue: DestinationJobs, retention: Retention): Promise<number> {
  let count = 0;
  const sweep = async (type: JobType, bounds: Required<RetentionBound>) => {
    for (;;) {
      const past = await findPast(store, queue, type, bounds);
      // One that was replayed meanwhile may be leased: it stays.
      const remove = async (id: string) => (await queue.backend.remove(id, false)) > 0;
      count += await removeJobs(store, queue, past, retention.messageIds.age, remove);
      if (past.length === 0) return;
    }
  };
  await sweep('completed', retention.delivered);
  await sweep('failed', retention.dead);
  return count;
}

/** Some of the records that are past a bound; BullMQ keeps them in the order in which they ended. */
async function findPast(store: SharedStore, queue: DestinationJobs, type: JobType, bounds: Required<RetentionBound>) {
  const range = async (start: number, isOldestFirst: boolean): Promise<StoredJob[]> => {
    const [ids = []] = await queue.backend.getRanges([type], start, start + CHUNK - 1, isOldestFirst);
    return store.jobs(queue, ids);
  };
  const surplus = await range(bounds.count, false);
  if (surplus.length > 0) return surplus;
  const endedBefore = Date.now() - bounds.age;
  return (await range(0, true)).filter(({ finishedOn }) => finishedOn !== undefined && finishedOn <= endedBefore);
}

/**
 * Removes jobs, and remembers their messages for `memory` ms since they were added. Resolves with the number of those
 * that were removed.
 */
export async function removeJobs(
  store: SharedStore,
  { queueName }: DestinationJobs,
  jobs: StoredJob[],
  memory: number,
  remove: (id: string) => Promise<boolean>,
): Promise<number> {
  const seen = jobs.map((job) => ({ id: job.id, until: Math.ceil(seqOf(job) / 1_000) + memory }));
  const isNoted = await note(store, queueName, seen);
  const removed = await Promise.all(jobs.map(({ id }) => remove(id)));
  if (!isNoted) await note(store, queueName, seen); // there is some room by now
  return removed.filter((isRemoved) => isRemoved).length;
}

/**
 * Notes messages that may not come again yet; resolves with whether the store had room for them. One that has none
 * gets it by removing records, so that goes on all the same.
 */
export async function note(store: SharedStore, queueName: string, seen: SeenDelivery[]): Promise<boolean> {
  const remembered = seen.filter(({ until }) => until > Date.now());
  try {
    if (remembered.length > 0) await store.remember(queueName, remembered);
    return true;
  } catch (error) {
    if (!errorMessage(error).includes('OOM')) throw error;
    return false;
  }
}
