import type { JobType } from 'bullmq';

import type { DeliveryPage, DeliveryRecord, DeliveryState } from '../delivery-queue.interface.js';
import type { CheckedQuery } from '../query.util.js';
import { compareAge, fromDeliveryId, type DeliveryPlace, matchesJob, placeOf, stateOf, toRecord } from './job.codec.js';
import type { DestinationJobs, JobPlace, SharedStore, StoredJob } from './shared-store.interface.js';

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
  yield* walk(store, queue, await findPlaces(store, queue, query), query);
}

interface Row extends DeliveryPlace, FoundJob {
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
  const last = after === undefined ? undefined : fromDeliveryId(after);
  let page: Row[] = [];
  for (const queue of queues) {
    const { destination } = queue;
    const places = (await findPlaces(store, queue, query)).filter(
      (place) => place.acceptedAt <= (last?.acceptedAt ?? Infinity),
    );
    places.sort((one, other) => other.acceptedAt - one.acceptedAt);
    let read = 0;
    for await (const found of walk(store, queue, places, query)) {
      read += CHUNK;
      const rows = found.map(({ job, state }) => ({ ...placeOf(destination, job), destination, job, state }));
      const older = last ? rows.filter((row) => compareAge(row, last) > 0) : rows;
      page = [...page, ...older].sort(compareAge).slice(0, limit);
      if (page.length === limit && (places[read]?.acceptedAt ?? 0) < (page.at(-1)?.acceptedAt ?? Infinity)) break;
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
  const type = await queue.backend.getState(jobId);
  const found = STATES.find((one) => TYPES[one].includes(type === 'waiting' ? 'wait' : (type as JobType)));
  return found === undefined ? [] : [{ id: jobId, state: found, acceptedAt }];
}

/** Reads the jobs at these places, in their order and in chunks, and yields those that match. */
async function* walk(
  store: SharedStore,
  queue: DestinationJobs,
  places: JobPlace[],
  query: CheckedQuery,
): AsyncGenerator<FoundJob[]> {
  for (let start = 0; start < places.length; start += CHUNK) {
    const chunk = places.slice(start, start + CHUNK);
    const states = new Map(chunk.map(({ id, state }) => [id, state]));
    const jobs = await store.jobs(queue, [...states.keys()]);
    yield jobs
      .map((job) => ({ job, state: stateOf(job, states.get(job.id)!) }))
      .filter(({ job, state }) => matchesJob(query, queue.destination, job, state));
  }
}
