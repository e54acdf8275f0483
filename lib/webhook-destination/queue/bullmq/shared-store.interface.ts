import type { IQueueBackend, JobJson } from 'bullmq';

import type { DeliveryState } from '../delivery-queue.interface.js';
import type { SharedRegistryStore } from '../shared/shared-queue.interface.js';

/** How long a leased job stays locked without a sign of life of its process, in ms. */
export const LOCK_DURATION = 15_000;

/** Time between two renewals of the locks, and between two looks for leases that ended with their process, in ms. */
export const STALLED_INTERVAL = 5_000;

/** What BullMQ's backends are made with. No number of lost leases makes a delivery fail: its retry window does. */
export const BACKEND_SETTINGS = {
  lockDuration: LOCK_DURATION,
  stalledInterval: STALLED_INTERVAL,
  maxStalledCount: 2 ** 31 - 1,
};

/** A delivery that is left out when it comes again. */
export interface SeenDelivery {
  id: string;
  /** When it may come again, in ms since the epoch. */
  until: number;
}

/** A job as it is found before it is read. */
export interface JobPlace {
  id: string;
  state: DeliveryState;
  /** In ms since the epoch. */
  acceptedAt: number;
}

/** The BullMQ queue of one destination. */
export interface DestinationJobs {
  destination: string;
  queueName: string;
  backend: IQueueBackend;
}

/** What is read of a job. */
export type StoredJob = Pick<
  JobJson,
  'id' | 'data' | 'timestamp' | 'finishedOn' | 'failedReason' | 'stacktrace' | 'returnvalue' | 'progress'
>;

/** Longest wait for a job, in ms; then the queue is looked at in any case. */
export const MAX_WAIT = 5_000;

/** Waits for jobs of one BullMQ queue. */
export interface JobWaiter {
  /** Resolves when a job may have come, or `MAX_WAIT` is over; rejects while the store is unavailable. */
  wait(): Promise<void>;
  /** Ends it, and what waits. */
  close(): void;
}

/** What a queue on BullMQ needs of Redis or PostgreSQL. */
export interface SharedStore {
  readonly registry: SharedRegistryStore;
  /** Rejects when the store cannot be reached in time, or is not fit for it. */
  open(): Promise<void>;
  /**
   * The operations of one BullMQ queue; they share connections.
   *
   * @param token that a consumer locks its jobs with; kept as `processedBy`, so that a purge can end any lease
   */
  backend(queueName: string, token?: string): IQueueBackend;
  /**
   * The jobs of a BullMQ queue that are in these states, in no order. All states are read at one moment, so each job is
   * there once, wherever it moves; those that are removed meanwhile may be missing.
   */
  places(queueName: string, states: readonly DeliveryState[]): Promise<JobPlace[]>;
  /** The jobs with these ids, as far as they are there, in no order. */
  jobs(queue: DestinationJobs, ids: string[]): Promise<StoredJob[]>;
  /** Waits for jobs of a BullMQ queue. */
  waiter(queueName: string): JobWaiter;
  /** Notes that there are deliveries for a destination. */
  addDestination(destination: string): Promise<void>;
  /** Every destination that ever had deliveries. */
  destinations(): Promise<string[]>;
  /** Notes that jobs were added to a BullMQ queue, for a store that must clear away what BullMQ leaves behind. */
  noteAdded?(queueName: string, count: number): void;
  /** Notes deliveries whose records are about to go. */
  remember(queueName: string, deliveries: SeenDelivery[]): Promise<void>;
  /** Those of the ids that were noted, and may not come again yet. */
  remembered(queueName: string, ids: string[]): Promise<Set<string>>;
  /** Forgets what may come again, for a store that does not do so by itself. */
  forgetOld?(): Promise<void>;
  close(): Promise<void>;
}
