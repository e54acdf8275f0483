import type { IQueueBackend, JobJson } from 'bullmq';

/** The BullMQ queue of one destination. */
export interface DestinationJobs {
  destination: string;
  queueName: string;
  backend: IQueueBackend;
}

/** Fields of a job that are read. */
export type StoredJob = Pick<
  JobJson,
  'id' | 'data' | 'timestamp' | 'finishedOn' | 'failedReason' | 'stacktrace' | 'returnvalue' | 'progress'
>;
