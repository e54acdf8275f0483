import { createHash, randomUUID } from 'node:crypto';

import type { JobJson } from 'bullmq';

import type { AttemptRecord } from '../attempt-record.interface.js';
import type {
  Delivery,
  DeliveryOutcome,
  DeliveryRecord,
  DeliveryState,
  NewDelivery,
} from '../delivery-queue.interface.js';
import { type CheckedQuery, matches } from '../query.util.js';
import type { TakenDelivery } from '../shared/shared-queue.interface.js';
import type { StoredJob } from './destination-jobs.interface.js';

/** What a job holds of its delivery from the start. */
interface JobData {
  source: string;
  messageId: string;
  userId?: string;
  /** When it was added, in us since the epoch: the order of the listing among those of one moment. */
  seq: number;
  body: string;
  trace?: string | undefined;
  recordedBy?: string | undefined;
  /** When it was replayed last, in ms since the epoch. */
  replayedAt?: number;
  /** The attempts before that, or in the queue that it was taken over from. */
  attempts?: AttemptRecord[];
  /** What that queue knew of it. */
  history?: JobHistory;
}

/** What a job holds of its delivery once it was attempted, beside the attempts. */
interface JobHistory {
  firstAttemptAt: number | undefined;
  failedUrls: string[];
  nextAttemptAt?: number;
  isDead?: boolean;
}

/** A new job, as a BullMQ backend takes it. */
export interface NewJob {
  jobId: string;
  job: JobJson;
}

let lastSeq = 0;

/** A BullMQ queue's name for a destination; it may hold no colon. */
export function toQueueName(destination: string): string {
  return encodeURIComponent(destination);
}

/** The id is that of the source and the message, so that a repeated message finds the job that is there. */
function toJobId(source: string, messageId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([source, messageId]))
    .digest('base64url')
    .slice(0, 24);
}

/**
 * An accepted delivery as the job that stands for it.
 *
 * @param isOnce whether a repeated message is to find the job that is there
 */
export function toJob(delivery: NewDelivery, isOnce: boolean): NewJob {
  const { source, messageId, userId, body, acceptedAt, trace, recordedBy } = delivery;
  lastSeq = Math.max(lastSeq + 1, Date.now() * 1_000);
  const jobId = isOnce ? toJobId(source, messageId) : randomUUID();
  const data: JobData = { source, messageId, userId, seq: lastSeq, body: body.toString(), trace, recordedBy };
  const job = { id: jobId, name: 'delivery', data: JSON.stringify(data), opts: {}, timestamp: acceptedAt } as JobJson;
  return { jobId, job };
}

/** A delivery of another queue as the job that stands for it, with what became of it so far. */
export function toTakenJob(delivery: TakenDelivery, isOnce: boolean): NewJob {
  const { jobId, job } = toJob(delivery, isOnce);
  const { attempts, firstAttemptAt, failedUrls, nextAttemptAt } = delivery;
  const data: JobData = { ...parseData(job), attempts, history: { firstAttemptAt, failedUrls, nextAttemptAt } };
  const delay = Math.max((nextAttemptAt ?? 0) - Date.now(), 0);
  // A delayed job falls due that long after its timestamp, which is that of its acceptance.
  const opts = delay > 0 ? { delay: delay + Date.now() - job.timestamp } : {};
  return { jobId, job: { ...job, data: JSON.stringify(data), opts, delay: opts.delay } };
}

/** What a job holds once it is replayed: it starts anew, and keeps the attempts made so far. */
export function toReplayedData(job: StoredJob, now: number): object {
  const data = parseData(job);
  const { attempts } = parseTrace(job, data);
  return { ...data, replayedAt: now, attempts, history: { firstAttemptAt: now, failedUrls: [] } };
}

/** The place of a delivery in the listing: nothing of it ever changes. */
export interface DeliveryPlace {
  /** Id of the delivery, made of the names of its queue and its job, and of the other fields. */
  id: string;
  acceptedAt: number;
  seq: number;
}

/** The place of the delivery that a job stands for. */
export function placeOf(destination: string, job: StoredJob): DeliveryPlace {
  const { id: jobId, timestamp: acceptedAt } = job;
  const seq = seqOf(job);
  return { id: [toQueueName(destination), jobId, acceptedAt, seq].join(':'), acceptedAt, seq };
}

/** The place of the delivery with this id, and its job. */
export function fromDeliveryId(id: string): DeliveryPlace & { queueName: string; jobId: string } {
  const [queueName = '', jobId = '', acceptedAt, seq] = id.split(':');
  return { id, queueName, jobId, acceptedAt: Number(acceptedAt), seq: Number(seq) };
}

/** The order of the listing, the newest first; two processes may add in the same moment. */
export function compareAge(one: DeliveryPlace, other: DeliveryPlace): number {
  if (one.acceptedAt !== other.acceptedAt) return other.acceptedAt - one.acceptedAt;
  if (one.seq !== other.seq) return other.seq - one.seq;
  return one.id === other.id ? 0 : one.id < other.id ? 1 : -1;
}

/** The order in which jobs were added, by their time in us since the epoch. */
export function seqOf(job: StoredJob): number {
  return parseData(job).seq;
}

/** Whether a job of a destination, in a state, stands for a delivery that matches a query. */
export function matchesJob(query: CheckedQuery, destination: string, job: StoredJob, state: DeliveryState): boolean {
  const { id, acceptedAt } = placeOf(destination, job);
  const { source, messageId, userId } = parseData(job);
  return matches(query, { id, destination, source, messageId, userId, acceptedAt }, state, job.failedReason);
}

/** The state of a job that was found in one: by now it may have ended, or have been replayed. */
export function stateOf({ finishedOn, failedReason }: StoredJob, found: DeliveryState): DeliveryState {
  if (finishedOn !== undefined) return failedReason === undefined ? 'delivered' : 'dead';
  return found === 'delivered' || found === 'dead' ? 'queued' : found;
}

/** The delivery that a job stands for. */
export function toDelivery(destination: string, job: StoredJob): Delivery {
  const data = parseData(job);
  const { source, messageId, userId, body, trace, recordedBy } = data;
  return {
    id: placeOf(destination, job).id,
    destination,
    source,
    messageId,
    userId,
    body: Buffer.from(body),
    acceptedAt: job.timestamp,
    trace,
    recordedBy,
    ...toProgress(job, data),
  };
}

/** The same with its state. */
export function toRecord(destination: string, job: StoredJob, state: DeliveryState): DeliveryRecord {
  const delivery = toDelivery(destination, job);
  if (state === 'delivered') {
    const attempt = JSON.parse(job.returnvalue) as AttemptRecord;
    delivery.attempts = [...delivery.attempts, attempt];
    delivery.firstAttemptAt ??= attempt.startedAt;
  }
  const due: Partial<Record<DeliveryState, number>> = {
    queued: delivery.acceptedAt,
    waiting: parseTrace(job).history?.nextAttemptAt,
  };
  const body = delivery.body.toString();
  return {
    ...delivery,
    body,
    state,
    nextAttemptAt: due[state],
    reason: state === 'dead' ? job.failedReason : undefined,
  };
}

/**
 * What a job keeps as its stack trace, which BullMQ writes together with the job's new state: the history, and an entry
 * for each attempt.
 */
export function toTrace(
  delivery: Delivery,
  outcome: Exclude<DeliveryOutcome, { state: 'delivered' }>,
  now: number,
): string {
  const { failedUrls } = outcome;
  const startedAt = outcome.attempt?.startedAt;
  const history: JobHistory =
    outcome.state === 'waiting'
      ? {
          firstAttemptAt: delivery.firstAttemptAt ?? outcome.firstAttemptAt ?? startedAt ?? now,
          failedUrls,
          nextAttemptAt: outcome.nextAttemptAt,
        }
      : { firstAttemptAt: delivery.firstAttemptAt ?? startedAt, failedUrls, isDead: true };
  const attempts = outcome.attempt ? [...delivery.attempts, outcome.attempt] : delivery.attempts;
  return JSON.stringify([history, ...attempts].map((entry) => JSON.stringify(entry)));
}

/** When a job that waits is to be attempted next, in ms since the epoch, as it was planned. */
export function nextAttemptAtOf(job: JobJson): number | undefined {
  return parseTrace(job).history?.nextAttemptAt;
}

/** Whether a leased job's window has no beginning on record, should its process end. */
export function lacksWindow(job: StoredJob): boolean {
  return toProgress(job, parseData(job)).firstAttemptAt === undefined;
}

function parseData({ data }: StoredJob): JobData {
  return JSON.parse(data) as JobData;
}

/** A stack trace without a failure is that of a job that was replayed since: it does not count any more. */
function parseTrace(
  job: StoredJob,
  data = parseData(job),
): { history: JobHistory | undefined; attempts: AttemptRecord[] } {
  const [first, ...rest] = JSON.parse(job.stacktrace ?? '[]') as string[];
  const history = first === undefined ? undefined : (JSON.parse(first) as JobHistory);
  const isFailed = job.failedReason !== undefined && job.finishedOn !== undefined;
  if (!history || (history.isDead && !isFailed)) return { history: data.history, attempts: data.attempts ?? [] };
  return { history, attempts: rest.map((attempt) => JSON.parse(attempt) as AttemptRecord) };
}

/** A lease that ended with its process is marked in the job's progress with the moment it began. */
function toProgress(job: StoredJob, data: JobData): Pick<Delivery, 'firstAttemptAt' | 'attempts' | 'failedUrls'> {
  const { history, attempts } = parseTrace(job, data);
  const { firstAttemptAt, failedUrls = [] } = history ?? {};
  const lostLeaseAt = Number(job.progress) > (data.replayedAt ?? 0) ? Number(job.progress) : undefined;
  return { firstAttemptAt: firstAttemptAt ?? lostLeaseAt, attempts, failedUrls };
}
