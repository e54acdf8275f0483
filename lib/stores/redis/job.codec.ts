import { hash, randomUUID } from 'node:crypto';

import type { JobJson } from 'bullmq';

import { parseJson } from '../../common/value.util.js';
import type { AttemptRecord } from '../../webhook-destination/queue/attempt-record.interface.js';
import {
  type Delivery,
  type DeliveryRecord,
  type DeliveryState,
  isOpenNotice,
  type NewDelivery,
  type TakenDelivery,
} from '../../webhook-destination/queue/delivery.interface.js';
import type { SearchedFields } from '../../webhook-destination/queue/searched-fields.js';
import { type CheckedQuery, matches } from '../../webhook-destination/queue/query.util.js';
import type { Settlement } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { toSettled } from '../../webhook-destination/queue/delivery.factory.js';

/** Data of a job: its delivery, whose progress is written together with each new state. */
interface JobData {
  source: string;
  messageId: string;
  userId?: string | undefined;
  /** When it was added, in us since the epoch: orders the listing of deliveries accepted at the same time. */
  seq: number;
  body: string;
  trace?: string | undefined;
  recordedBy?: string | undefined;
  release?: string | undefined;
  attempts?: AttemptRecord[];
  firstAttemptAt?: number | undefined;
  failedUrls?: string[];
  nextAttemptAt?: number | undefined;
}

/** A new job, as a BullMQ backend takes it. */
export interface NewJob {
  jobId: string;
  job: JobJson;
  /** Keys by which its delivery is searched. */
  keys: readonly number[];
  /** Id that a job of a repeated message would have, if it is another one. */
  repeatedId?: string;
}

let lastSeq = 0;

/** Returns the name of a destination's BullMQ queue, which must not contain a colon. */
export function toQueueName(destination: string): string {
  return encodeURIComponent(destination);
}

/** Derives a job's id from what identifies its delivery in the queue, so that a repeated one finds the existing job. */
export function toJobId(...parts: unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 24);
}

/**
 * Converts an accepted delivery to a job.
 *
 * @param deduplicates whether a repeated message finds the existing job
 */
export function toJob(delivery: NewDelivery, deduplicates: boolean, searched: SearchedFields): NewJob {
  const { source, messageId, userId, body, acceptedAt, trace, recordedBy, release } = delivery;
  lastSeq = Math.max(lastSeq + 1, Date.now() * 1_000);
  const jobId = deduplicates ? toJobId(source, messageId) : randomUUID();
  const origin = { trace, recordedBy, release };
  const data: JobData = { source, messageId, userId, seq: lastSeq, body: body.toString(), ...origin };
  const job = { id: jobId, name: 'delivery', data: JSON.stringify(data), opts: {}, timestamp: acceptedAt } as JobJson;
  return { jobId, job, keys: searched.keysOf(body) };
}

/**
 * Converts a delivery of another queue to a job, with its attempts and history. The same delivery finds the existing
 * job, but not another one of its message, which that queue may hold too.
 */
export function toTakenJob(delivery: TakenDelivery, _deduplicates: boolean, searched: SearchedFields): NewJob {
  const { jobId: repeatedId, job, keys } = toJob(delivery, true, searched);
  const { source, messageId, acceptedAt, attempts, firstAttemptAt, failedUrls, nextAttemptAt } = delivery;
  const jobId = toJobId(source, messageId, acceptedAt, delivery.id);
  const data: JobData = { ...parseData(job), attempts, firstAttemptAt, failedUrls, nextAttemptAt };
  const delay = Math.max((nextAttemptAt ?? 0) - Date.now(), 0);
  // BullMQ adds the delay to the timestamp, which is the acceptance time.
  const opts = delay > 0 ? { delay: delay + Date.now() - job.timestamp } : {};
  return { jobId, repeatedId, keys, job: { ...job, id: jobId, data: JSON.stringify(data), opts, delay: opts.delay } };
}

/**
 * Returns the data of a replayed job, which starts anew but keeps its attempts.
 * @param now the queue's time, in ms since the epoch
 */
export function toReplayedData(job: JobJson, now: number): object {
  const data = parseData(job);
  const attempts = withSuccess(data.attempts, job); // BullMQ keeps the successful one apart, and drops it now
  return { ...data, attempts, firstAttemptAt: now, failedUrls: [], nextAttemptAt: now };
}

/** Returns the fields that BullMQ writes together with the new state of a job that was not delivered. */
export function toFields({ delivery, outcome }: Settlement): Record<string, string> {
  const { source, messageId, userId, body, trace, recordedBy, release } = delivery;
  const { firstAttemptAt, attempts, failedUrls, dueAt } = toSettled({ delivery, outcome });
  const data: JobData = {
    source,
    messageId,
    userId,
    seq: fromDeliveryId(delivery.id).seq,
    body: body.toString(),
    trace,
    recordedBy,
    release,
    attempts,
    firstAttemptAt,
    failedUrls,
    nextAttemptAt: dueAt,
  };
  const failures = outcome?.attempt?.results.map(({ url, status, error }) => `${url}: ${error ?? status}`) ?? [];
  return { data: JSON.stringify(data), ...(failures.length > 0 && { failedReason: failures.join('; ') }) };
}

/** Place of a delivery in the listing, which never changes. */
export interface DeliveryPlace {
  /** Id of the delivery: queue name, job id and the fields below. */
  id: string;
  acceptedAt: number;
  seq: number;
}

/** Returns the place of a job's delivery. */
export function placeOf(destination: string, job: JobJson, { seq } = parseData(job)): DeliveryPlace {
  const { id: jobId, timestamp: acceptedAt } = job;
  return { id: [toQueueName(destination), jobId, acceptedAt, seq].join(':'), acceptedAt, seq };
}

/** Returns the source of a job's delivery; '' if it cannot be read. */
export function sourceOf(job: JobJson): string {
  return parseData(job).source;
}

/** Parses the id of a delivery into its place, queue and job. */
export function fromDeliveryId(id: string): DeliveryPlace & { queueName: string; jobId: string } {
  const [queueName = '', jobId = '', acceptedAt, seq] = id.split(':');
  return { id, queueName, jobId, acceptedAt: Number(acceptedAt), seq: Number(seq) };
}

/** Compares places, newest first; the id decides between deliveries that two processes add at the same moment. */
export function compareAge(one: DeliveryPlace, other: DeliveryPlace): number {
  if (one.acceptedAt !== other.acceptedAt) return other.acceptedAt - one.acceptedAt;
  if (one.seq !== other.seq) return other.seq - one.seq;
  return one.id === other.id ? 0 : one.id < other.id ? 1 : -1;
}

/** Whether the delivery of a job in this state matches a query. */
export function matchesJob(query: CheckedQuery, destination: string, job: JobJson, state: DeliveryState): boolean {
  const data = parseData(job);
  const { id, acceptedAt } = placeOf(destination, job, data);
  const { source, messageId, userId } = data;
  return matches(query, { id, destination, source, messageId, userId, acceptedAt }, state, job.failedReason);
}

/** Whether the delivery of a job in this state is a delete notification that is still to be sent. */
export function isOpenNoticeJob(job: JobJson, state: DeliveryState): boolean {
  return isOpenNotice({ body: Buffer.from(parseData(job).body), state });
}

/** Returns the state of a job that was found in state `found`: since then it may have ended or been replayed. */
export function stateOf({ finishedOn, returnvalue }: JobJson, found: DeliveryState): DeliveryState {
  if (finishedOn !== undefined) return returnvalue === undefined ? 'dead' : 'delivered';
  return found === 'delivered' || found === 'dead' ? 'queued' : found;
}

/** Converts a job to its delivery. */
export function toDelivery(destination: string, job: JobJson): Delivery {
  const data = parseData(job);
  const { source, messageId, userId, body, firstAttemptAt, attempts = [], failedUrls = [] } = data;
  const { trace, recordedBy, release } = data;
  return {
    id: placeOf(destination, job, data).id,
    destination,
    source,
    messageId,
    userId,
    body: Buffer.from(body),
    acceptedAt: job.timestamp,
    trace,
    recordedBy,
    release,
    firstAttemptAt,
    attempts,
    failedUrls,
  };
}

/** Converts a job to its delivery record. */
export function toRecord(destination: string, job: JobJson, state: DeliveryState): DeliveryRecord {
  const delivery = toDelivery(destination, job);
  if (state === 'delivered') {
    delivery.attempts = withSuccess(delivery.attempts, job);
    delivery.firstAttemptAt ??= delivery.attempts.at(-1)?.startedAt;
  }
  const waitsUntil = state === 'waiting' ? nextAttemptAtOf(job) : undefined;
  const body = delivery.body.toString();
  return {
    ...delivery,
    body,
    state,
    nextAttemptAt: state === 'queued' ? delivery.acceptedAt : waitsUntil,
    reason: state === 'dead' ? job.failedReason : undefined,
  };
}

/** Returns the attempts with the successful one of a delivered job, which they already have if its replay was cut short. */
function withSuccess(attempts: AttemptRecord[] = [], { returnvalue }: JobJson): AttemptRecord[] {
  const success = parseJson(returnvalue) as AttemptRecord | undefined;
  return success && attempts.at(-1)?.startedAt !== success.startedAt ? [...attempts, success] : attempts;
}

/** Returns the scheduled time of the next attempt of a waiting or replayed job, in ms since the epoch. */
export function nextAttemptAtOf(job: JobJson): number | undefined {
  return parseData(job).nextAttemptAt;
}

/** Returns when an open job fell or falls due, in ms since the epoch. */
export function dueAtOf(job: JobJson): number {
  return nextAttemptAtOf(job) ?? job.timestamp;
}

/** Whether all of a job can be read: its data may have been evicted or damaged. */
export function isReadable(job: JobJson): boolean {
  return parseData(job) !== EMPTY && Number.isFinite(job.timestamp);
}

/** What is listed of a job whose data cannot be read. */
const EMPTY: JobData = { source: '', messageId: '', seq: 0, body: '' };

function parseData(job: JobJson): JobData {
  const data = parseJson(job.data) as Partial<JobData> | null | undefined;
  const { source, messageId, body, attempts = [], failedUrls = [] } = data ?? {};
  const isWhole =
    [source, messageId, body].every((text) => typeof text === 'string') &&
    [attempts, failedUrls].every((list) => Array.isArray(list));
  return isWhole ? (data as JobData) : EMPTY;
}
