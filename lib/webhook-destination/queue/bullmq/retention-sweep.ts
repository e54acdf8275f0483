import type { Retention } from '../retention.options.js';
import type { DestinationJobs } from './destination-jobs.interface.js';
import { countJobs } from './job.finder.js';
import type { RedisStore } from './redis.store.js';

/** Records removed with one command, as Redis does nothing else meanwhile. */
const PORTION = 250;

/**
 * Removes a queue's records past their retention; resolves with their number. On the way, a queue with open deliveries
 * gets its place among those that are looked at, should a tool of BullMQ's have moved them.
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
    // BullMQ removes those first that ended first.
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
