import type { JobJson, JobType } from 'bullmq';

import { UNREADABLE } from '../../webhook-destination/queue/dead-reasons.js';
import {
  DELIVERY_STATES,
  type DeliveryRecord,
  type DeliveryState,
  type OldestDelivery,
} from '../../webhook-destination/queue/delivery.interface.js';
import type { CheckedPage, CheckedQuery } from '../../webhook-destination/queue/query.util.js';
import {
  compareAge,
  dueAtOf,
  fromDeliveryId,
  type DeliveryPlace,
  matchesJob,
  placeOf,
  stateOf,
  toRecord,
} from './job.codec.js';
import { type DestinationJobs, isDamage, type JobQueues } from './job-queues.js';
import type { KeyedJob } from './search-keys.js';

/** Jobs read concurrently. */
const CHUNK = 250;

/** Records at each end of a queue from which their size is estimated. */
const SAMPLED = 10;

/** What a record takes besides its data, in bytes: the job's key and other fields, and its places in sorted sets. */
const JOB_BYTES = 800;

/** Open jobs of each type among which the oldest is found. */
const LOOKED_AT = 100;

/** BullMQ's job types for each state; a retry that is due counts as queued. */
const TYPES: Record<DeliveryState, JobType[]> = {
  queued: ['wait', 'prioritized'],
  delivering: ['active'],
  waiting: ['delayed'],
  delivered: ['completed'],
  dead: ['failed'],
};

const ALL_TYPES = DELIVERY_STATES.flatMap((state) => TYPES[state].map((type) => ({ state, type })));

/** A job and its state. */
interface FoundJob {
  job: JobJson;
  state: DeliveryState;
}

/** A job that has been found but not read. */
interface JobPlace {
  id: string;
  state: DeliveryState;
  /** When it was accepted, in ms since the epoch. */
  acceptedAt: number;
}

/** Counts jobs by state, in one snapshot. */
export async function countJobs({ backend }: DestinationJobs): Promise<Record<DeliveryState, number>> {
  const found = await backend.getCounts(ALL_TYPES.map(({ type }) => type));
  const counts = { queued: 0, delivering: 0, waiting: 0, delivered: 0, dead: 0 };
  for (const [index, { state }] of ALL_TYPES.entries()) counts[state] += found[index]!;
  return counts;
}

/**
 * Estimates the memory that the records of delivered messages take, in bytes, from the size of the first and the last
 * ones: reading all of them would block Redis.
 */
export async function estimateBytes(store: JobQueues, queue: DestinationJobs, count: number): Promise<number> {
  if (count === 0) return 0;
  const ranges = await Promise.all(
    [true, false].map((isAscending) => queue.backend.getRanges(TYPES.delivered, 0, SAMPLED - 1, isAscending)),
  );
  const ids = (ranges as string[][][]).flat(2);
  if (ids.length === 0) return 0; // another process has removed them
  return Math.ceil(count * (JOB_BYTES + (await store.averageSize(queue, ids))));
}

/** Reads a job; undefined if it does not exist. A damaged one counts as set aside. */
export async function readJob({ backend }: DestinationJobs, id: string): Promise<JobJson | undefined> {
  try {
    const job = await backend.getJobData(id);
    return job && { ...job, id };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { id, data: '', opts: {}, failedReason: UNREADABLE, finishedOn: 0 } as unknown as JobJson;
  }
}

/**
 * Returns the oldest open delivery of a queue, and when the first of them falls due. Considers only the jobs of each type
 * that are due first, because a queue can hold millions.
 */
export async function firstOpen(store: JobQueues, queue: DestinationJobs): Promise<OldestDelivery | undefined> {
  const types = [...TYPES.queued, ...TYPES.waiting];
  const ranges: string[][] = await queue.backend.getRanges(types, 0, LOOKED_AT - 1, true);
  // BullMQ takes jobs that wait from the end.
  const heads = ranges.flatMap((ids, index) => (types[index] === 'wait' ? ids.slice(-1) : ids.slice(0, 1)));
  const [times, jobs] = await Promise.all([
    store.acceptedAt(queue, ranges.flat()),
    Promise.all(heads.map((id) => readJob(queue, id))),
  ]);
  const accepted = times.filter((time) => time !== undefined);
  if (accepted.length === 0) return undefined;
  // One may have been removed meanwhile, and the time of another may be damaged.
  const due = jobs.flatMap((job) => (job ? dueAtOf(job) : [])).filter(Number.isFinite);
  return {
    destination: queue.destination,
    acceptedAt: Math.min(...accepted),
    dueAt: due.length === 0 ? undefined : Math.min(...due),
  };
}

/** Yields the matching jobs of one queue in chunks; each job is found once, even if its state changes meanwhile. */
export async function* find(store: JobQueues, queue: DestinationJobs, query: CheckedQuery): AsyncGenerator<FoundJob[]> {
  yield* walk(queue, await findPlaces(store, queue, query), query);
}

interface Row extends DeliveryPlace, FoundJob {
  destination: string;
}

/**
 * Returns matching deliveries, newest first. Finds the jobs of a queue in one snapshot, because their states change,
 * then reads as many of them, newest first, as the page needs.
 */
export async function listRecords(
  store: JobQueues,
  queues: DestinationJobs[],
  query: CheckedQuery,
  { limit, after }: CheckedPage,
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
    for await (const found of walk(queue, places, query)) {
      read += CHUNK;
      const rows = found.map(({ job, state }) => ({ ...placeOf(destination, job), destination, job, state }));
      const older = last ? rows.filter((row) => compareAge(row, last) > 0) : rows;
      page = [...page, ...older].sort(compareAge).slice(0, limit);
      if (page.length === limit && (places[read]?.acceptedAt ?? 0) < (page.at(-1)?.acceptedAt ?? Infinity)) break;
    }
  }
  return page.map(({ destination, job, state }) => toRecord(destination, job, state));
}

/** Finds the jobs of one queue that may match a query, in one snapshot of all states, so each job is found once. */
async function findPlaces(store: JobQueues, queue: DestinationJobs, query: CheckedQuery): Promise<JobPlace[]> {
  const { id, acceptedBefore = Infinity } = query;
  if (id !== undefined) return findPlace(queue, id);
  const types = ALL_TYPES.filter(({ state }) => state === (query.state ?? state));
  const ranges = (await queue.backend.getRanges(
    types.map(({ type }) => type),
    0,
    -1,
  )) as string[][];
  const places: JobPlace[] = [];
  for (const [index, { state }] of types.entries()) {
    const ids = ranges[index]!;
    const times = await store.acceptedAt(queue, ids);
    for (const [at, jobId] of ids.entries()) {
      const acceptedAt = times[at] ?? ((await readJob(queue, jobId))?.timestamp || 0);
      if (acceptedAt < acceptedBefore) places.push({ id: jobId, state, acceptedAt });
    }
  }
  return places;
}

async function findPlace(queue: DestinationJobs, id: string): Promise<JobPlace[]> {
  const { queueName, jobId, acceptedAt } = fromDeliveryId(id);
  return queueName === queue.queueName ? placesOf(queue, jobId, acceptedAt) : [];
}

/** Returns the place of a job; empty if it does not exist. */
async function placesOf(queue: DestinationJobs, jobId: string, acceptedAt: number): Promise<JobPlace[]> {
  const found = await queue.backend.getState(jobId);
  const state = DELIVERY_STATES.find((one) => TYPES[one].includes(found === 'waiting' ? 'wait' : (found as JobType)));
  return state === undefined ? [] : [{ id: jobId, state, acceptedAt }];
}

/** Returns the delivery of a job that the index of searches names; undefined if it does not exist or match the query. */
export async function readKeyed(
  queue: DestinationJobs,
  { jobId, acceptedAt }: KeyedJob,
  query: CheckedQuery,
): Promise<DeliveryRecord | undefined> {
  for await (const [found] of walk(queue, await placesOf(queue, jobId, acceptedAt), query)) {
    if (found) return toRecord(queue.destination, found.job, found.state);
  }
  return undefined;
}

/** Reads these jobs in chunks, in their order, and yields those that still exist and match. */
async function* walk(queue: DestinationJobs, places: JobPlace[], query: CheckedQuery): AsyncGenerator<FoundJob[]> {
  for (let start = 0; start < places.length; start += CHUNK) {
    const chunk = places.slice(start, start + CHUNK);
    const found = await Promise.all(
      chunk.map(async ({ id, state, acceptedAt }) => {
        const read = await readJob(queue, id);
        if (!read) return [];
        const job = { ...read, timestamp: read.timestamp || acceptedAt };
        return [{ job, state: stateOf(job, state) }];
      }),
    );
    yield found.flat().filter(({ job, state }) => matchesJob(query, queue.destination, job, state));
  }
}
