import type { IQueueBackend, JobJson } from 'bullmq';

import type { DeliveryPage, DeliveryQuery, DeliveryRecord, DeliveryState } from '../delivery-queue.interface.js';
import { fromDeliveryId, matches, seqOf, toRecord } from './job.codec.js';
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

/**
 * The deliveries that match, the newest first. All that ended or wait are read for it; of those queued, which BullMQ
 * keeps in the order of their arrival, only as many as the page needs.
 */
export async function listRecords(
  queues: DestinationJobs[],
  query: DeliveryQuery,
  { limit = 100, after }: DeliveryPage,
): Promise<DeliveryRecord[]> {
  const before = after === undefined ? Infinity : fromDeliveryId(after).seq;
  let page: { destination: string; job: JobJson; state: DeliveryState; seq: number }[] = [];
  const cut = () => (page = page.sort((a, b) => b.seq - a.seq).slice(0, limit));
  for (const queue of queues) {
    const { destination } = queue;
    for (const state of STATES) {
      let count = 0;
      for await (const jobs of find(queue, query, state)) {
        const found = jobs.map((job) => ({ destination, job, state, seq: seqOf(job) }));
        const older = found.filter(({ seq }) => seq < before);
        page.push(...older);
        count += older.length;
        if (state === 'queued' && count >= limit) break;
        if (page.length > 10 * limit) cut();
      }
    }
  }
  return cut().map(({ destination, job, state }) => toRecord(destination, job, state));
}
