import type { DeliveryPage, DeliveryRecord, DeliveryState } from '../delivery-queue.interface.js';
import type { CheckedQuery } from '../query.check.js';
import { compareAge, fromDeliveryId, type ListedPlace, matchesJob, placeOf, stateOf, toRecord } from './job.codec.js';
import { readState, STATES } from './job.scan.js';
import type { DestinationJobs, JobPlace, SharedStore, StoredJob } from './shared-store.interface.js';

/** Jobs read with one exchange. */
const CHUNK = 250;

/** A job and its state. */
interface FoundJob {
  job: StoredJob;
  state: DeliveryState;
}

/** The jobs of one queue that a query asks for, in chunks; each is found once, wherever it moves meanwhile. */
export async function* find(
  store: SharedStore,
  queue: DestinationJobs,
  query: CheckedQuery,
): AsyncGenerator<FoundJob[]> {
  for await (const { found } of walk(store, queue, await findPlaces(store, queue, query), query)) yield found;
}

interface Row extends ListedPlace, FoundJob {
  destination: string;
}

/**
 * The deliveries that match, the newest first. Where each queue's jobs are is read at once, as they move; of the jobs
 * themselves as many, from the newest on, as the page needs.
 */
export async function listRecords(
  store: SharedStore,
  queues: DestinationJobs[],
  query: CheckedQuery,
  { limit = 100, after }: DeliveryPage,
): Promise<DeliveryRecord[]> {
  const last = after === undefined ? undefined : { ...fromDeliveryId(after), id: after };
  let page: Row[] = [];
  for (const queue of queues) {
    const { destination } = queue;
    const places = (await findPlaces(store, queue, query)).filter(
      (place) => place.acceptedAt <= (last?.acceptedAt ?? Infinity),
    );
    places.sort((one, other) => other.acceptedAt - one.acceptedAt);
    for await (const { found, next } of walk(store, queue, places, query)) {
      const rows = found.map(({ job, state }) => ({ ...placeOf(destination, job), destination, job, state }));
      const older = last ? rows.filter((row) => compareAge(row, last) > 0) : rows;
      page = [...page, ...older].sort(compareAge).slice(0, limit);
      if (page.length === limit && (next?.acceptedAt ?? 0) < (page.at(-1)?.acceptedAt ?? Infinity)) break;
    }
  }
  return page.map(({ destination, job, state }) => toRecord(destination, job, state));
}

/** Where the jobs of one queue are that a query may ask for. */
async function findPlaces(store: SharedStore, queue: DestinationJobs, query: CheckedQuery): Promise<JobPlace[]> {
  const { id, state, acceptedBefore = Infinity } = query;
  if (id === undefined) {
    const places = await store.places(queue.queueName, state === undefined ? STATES : [state]);
    return places.filter(({ acceptedAt }) => acceptedAt < acceptedBefore);
  }
  const { queueName, jobId, acceptedAt } = fromDeliveryId(id);
  if (queueName !== queue.queueName) return [];
  const found = await readState(queue.backend, jobId);
  return found === undefined ? [] : [{ id: jobId, state: found, acceptedAt }];
}

/** Reads the jobs at these places, in their order and in chunks: those that match, and the place that comes then. */
async function* walk(
  store: SharedStore,
  queue: DestinationJobs,
  places: JobPlace[],
  query: CheckedQuery,
): AsyncGenerator<{ found: FoundJob[]; next: JobPlace | undefined }> {
  for (let start = 0; start < places.length; start += CHUNK) {
    const chunk = places.slice(start, start + CHUNK);
    const states = new Map(chunk.map(({ id, state }) => [id, state]));
    const jobs = await store.jobs(queue, [...states.keys()]);
    const found = jobs
      .map((job) => ({ job, state: stateOf(job, states.get(job.id)!) }))
      .filter(({ job, state }) => matchesJob(query, queue.destination, job, state));
    yield { found, next: places[start + CHUNK] };
  }
}
