import type { IQueueBackend, JobJson } from 'bullmq';

import type { DeliveryPage, DeliveryQuery, DeliveryRecord, DeliveryState } from '../delivery-queue.interface.js';
import { compareAge, fromDeliveryId, idOf, type ListedPlace, matches, seqOf, toRecord } from './job.codec.js';
import { readJobs, readState, scan, STATES } from './job.scan.js';

/** The BullMQ queue of one destination. */
export interface DestinationJobs {
  destination: string;
  queueName: string;
  backend: IQueueBackend;
}

/** The jobs of one queue that a query asks for, in chunks; those queued come newest first. */
export async function* find(
  { queueName, backend }: DestinationJobs,
  query: DeliveryQuery,
  state: DeliveryState,
): AsyncGenerator<JobJson[]> {
  if ((query.state ?? state) !== state) return;
  if (query.id === undefined) {
    for await (const jobs of scan(backend, state)) yield jobs.filter((job) => matches(job, query));
    return;
  }
  const place = fromDeliveryId(query.id);
  if (place.queueName !== queueName || (await readState(backend, place.jobId)) !== state) return;
  yield (await readJobs(backend, [place.jobId])).filter((job) => matches(job, query));
}

interface Row extends ListedPlace {
  destination: string;
  job: JobJson;
  state: DeliveryState;
}

/**
 * The deliveries that match, the newest first. All that ended or wait are read for it; of those queued, which BullMQ
 * keeps in the order of their arrival, only as many as the page needs.
 */
export async function listRecords(
  queues: DestinationJobs[],
  query: DeliveryQuery,
  { limit = 100, after }: DeliveryPage,
): Promise<DeliveryRecord[]> {
  const last = after === undefined ? undefined : { id: after, seq: fromDeliveryId(after).seq };
  let page: Row[] = [];
  for (const queue of queues) {
    const { destination } = queue;
    for (const state of STATES) {
      for await (const jobs of find(queue, query, state)) {
        const rows = jobs.map((job) => ({ id: idOf(destination, job), seq: seqOf(job), destination, job, state }));
        const older = last ? rows.filter((row) => compareAge(row, last) > 0) : rows;
        page = [...page, ...older].sort((a, b) => compareAge(a, b)).slice(0, limit);
        if (state === 'queued' && page.length === limit && isBehind(rows, page[limit - 1]!)) break;
      }
    }
  }
  return page.map(({ destination, job, state }) => toRecord(destination, job, state));
}

/**
 * Whether queued jobs, and so those that came before them, are older than a page's last one. Retries that fell due tell
 * nothing of that: they are among the newest, however old they are.
 */
function isBehind(rows: Row[], last: Row): boolean {
  return rows.some(({ job }) => !job.attemptsStarted) && rows.every((row) => compareAge(last, row) < 0);
}
