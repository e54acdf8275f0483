import type { Retention } from '../retention.options.js';
import type { DestinationJobs } from './job.finder.js';
import { seqOf } from './job.codec.js';
import { readJobs } from './job.scan.js';
import type { SharedStore } from './shared-store.interface.js';

/** Records removed with one exchange. */
const CHUNK = 250;

/** Removes a queue's records past their retention; the messages that may not come again yet are noted first. */
export async function sweepJobs(
  store: SharedStore,
  { queueName, backend }: DestinationJobs,
  retention: Retention,
): Promise<number> {
  let count = 0;
  for (const [type, bounds] of [
    ['completed', retention.delivered],
    ['failed', retention.dead],
  ] as const) {
    for (;;) {
      const [kept = 0] = await backend.getCounts([type]);
      const excess = kept - bounds.count;
      const now = Date.now();
      const [ids = []] = (await backend.getRanges([type], 0, CHUNK - 1, true)) as unknown as [string[]?];
      const oldest = await readJobs(backend, ids);
      const past = oldest.filter((job, index) => index < excess || (job.finishedOn ?? now) <= now - bounds.age);
      const seen = past.map((job) => ({ id: job.id, until: Math.ceil(seqOf(job) / 1_000) + retention.messageIds.age }));
      await store.remember(
        queueName,
        seen.filter(({ until }) => until > now),
      );
      const removed = await Promise.all(past.map(({ id }) => backend.remove(id, false)));
      count += removed.filter((number) => number > 0).length;
      if (past.length < CHUNK) break;
    }
  }
  return count;
}
