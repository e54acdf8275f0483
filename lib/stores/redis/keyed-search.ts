import type { DeliveryRecord } from '../../webhook-destination/queue/delivery.interface.js';
import {
  type CheckedSearch,
  type DeliveryPortion,
  matchesRecord,
  SearchPace,
} from '../../webhook-destination/queue/delivery-search.js';
import type { CheckedPage } from '../../webhook-destination/queue/query.util.js';
import { fromDeliveryId } from './job.codec.js';
import { readKeyed } from './job.finder.js';
import type { JobQueues } from './job-queues.js';
import { follows, type KeyedJob } from './search-keys.js';

/** Jobs read concurrently. */
const CHUNK = 100;

/** Searches the deliveries with a key, the newest first. */
export async function searchKeyed(
  store: JobQueues,
  key: number,
  search: CheckedSearch,
  { limit, after }: CheckedPage,
): Promise<DeliveryPortion> {
  const deliveries: DeliveryRecord[] = [];
  const pace = new SearchPace();
  let next = after;
  let last: KeyedJob | undefined = after === undefined ? undefined : fromDeliveryId(after);
  let rank = last ? await store.keys.rankAfter(key, last) : 0;
  do {
    const ranked = await store.keys.find(key, rank, CHUNK);
    const before = last;
    const jobs = before ? ranked.filter((job) => follows(job, before)) : ranked;
    const records = await Promise.all(jobs.map((job) => readKeyed(store.queueNamed(job.queueName), job, search.query)));
    for (const [index, { queueName, jobId, acceptedAt }] of jobs.entries()) {
      if (deliveries.length === limit) return { deliveries, next };
      if (pace.isDue) await pace.pause();
      const record = records[index];
      next = record?.id ?? [queueName, jobId, acceptedAt].join(':');
      if (!record || !matchesRecord(search, record)) continue;
      deliveries.push(record);
      pace.found(record.body.length);
    }
    if (ranked.length < CHUNK) return { deliveries, next: undefined };
    // Jobs that are added or removed meanwhile change the ranks.
    last = jobs.at(-1) ?? last;
    rank = last && jobs.length > 0 ? await store.keys.rankAfter(key, last) : rank + CHUNK;
  } while (!pace.isOver);
  return { deliveries, next };
}
