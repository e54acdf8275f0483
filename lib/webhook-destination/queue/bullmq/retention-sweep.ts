import type { Retention } from '../retention.options.js';
import { countJobs } from './job.finder.js';
import type { DestinationJobs, RedisStore } from './redis.store.js';

/** Records removed with one command, which blocks Redis. */
const PORTION = 250;

/**
 * Removes a queue's records past their retention; resolves with their number. Also restores a queue with open
 * deliveries to the due list, because a BullMQ tool may have moved its jobs.
 */
export async function sweepJobs(store: RedisStore, queue: DestinationJobs, retention: Retention): Promise<number> {
  const { queued, delivering, waiting, ...ended } = await countJobs(queue);
  if (queued + delivering + waiting > 0) await store.due.restore(queue.destination);
  let count = 0;
  for (const [state, type] of [
    ['delivered', 'completed'],
    ['dead', 'failed'],
  ] as const) {
    const bounds = retention[state];
    // BullMQ first removes the jobs that ended first.
    const remove = async (endedUntil: number, most: number) => {
      for (let left = most, removed = PORTION; left > 0 && removed === PORTION; left -= removed) {
        const ids = await queue.backend.cleanJobsByState(type, endedUntil, Math.min(left, PORTION));
        await store.forget(queue, ids);
        removed = ids.length;
        count += removed;
      }
    };
    await remove(Number.MAX_SAFE_INTEGER, ended[state] - bounds.count);
    await remove(Date.now() - bounds.age, Math.min(ended[state], bounds.count));
  }
  return count;
}
