import type { JobJson, MinimalJob } from 'bullmq';
import { Subject } from 'rxjs';

import { LimitedLogger } from '../../common/limited.logger.js';
import { UNREADABLE } from '../../webhook-destination/queue/dead-reasons.js';
import type { Delivery, NewDelivery } from '../../webhook-destination/queue/delivery.interface.js';
import type { Claim, ClaimLimit } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { fromDeliveryId, isReadable, nextAttemptAtOf, placeOf, toDelivery } from './job.codec.js';
import { readJob } from './job.finder.js';
import { type DestinationJobs, isDamage, isLost, type JobQueues, KEEP } from './job-queues.js';

const logger = new LimitedLogger('BullmqQueue');

/** Lag from which on the system clock counts as set back, in ms. */
const MIN_LEAD = 100;

/** Upper bound of the minimum wait between two claims while BullMQ holds due jobs back, in ms. */
const LONGEST_LEAST_WAIT = 1_000;

/** Maximum number of jobs made due at once when BullMQ does not make them due. */
const MAX_MADE_DUE = 100;

/** What a destination is expected to have due. */
interface Expected {
  jobs: number;
  /** Size of the largest body seen, in bytes. */
  bytes: number;
}

/** The jobs that one exchange has locked. */
interface Taken {
  deliveries: Delivery[];
  /** Whether each command found a job. */
  more: boolean;
  /** When the next job falls due by the system clock, in ms since the epoch, if known. */
  dueAt: number | undefined;
}

/** Claims jobs, which BullMQ locks one by one: with as many commands at once as are likely to find one. */
export class JobClaims {
  private readonly expected = new Map<string, Expected>();
  /** Deliveries that were locked by the commands that settled others, by destination, oldest first. */
  private fetched = new Map<string, Delivery[]>();
  /** Ids of leased deliveries that were purged since leases were renewed, and between the two latest renewals. */
  private purged = new Set<string>();
  private purgedBefore = new Set<string>();
  /** Emits destinations that have such deliveries. */
  readonly fetched$ = new Subject<string>();

  /** @param leased returns the ids of the deliveries that this process has leased */
  constructor(
    private readonly store: JobQueues,
    private readonly leased: () => string[],
  ) {}

  /** To be called when a destination gets deliveries that are due. */
  expect(destination: string, deliveries: NewDelivery[]): void {
    const { jobs, bytes } = this.expected.get(destination) ?? { jobs: 0, bytes: 1 };
    const largest = deliveries.reduce((size, { body }) => Math.max(size, body.length), bytes);
    this.expected.set(destination, { jobs: jobs + deliveries.length, bytes: largest });
  }

  /** @param now the queue's time, in ms since the epoch */
  async claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim & Pick<Taken, 'dueAt'>> {
    const fetched = this.fetched.get(destination);
    if (fetched) {
      const deliveries = fetched.splice(0, limit.deliveries).filter(({ id }) => !this.isPurged(id));
      if (fetched.length === 0) this.fetched.delete(destination);
      return { deliveries, more: true, nextDueAt: undefined, dueAt: undefined };
    }
    const queue = this.store.queueOf(destination);
    const { jobs = 0, bytes = 1 } = this.expected.get(destination) ?? {};
    // The last command is to find none, and tells when the next job falls due.
    const size = Math.max(1, Math.min(jobs + 1, limit.deliveries, Math.floor(limit.bytes / bytes)));
    const lead = now - Date.now();
    let taken = await this.take(queue, size);
    if (taken.deliveries.length === 0 && lead >= MIN_LEAD && (await this.makeDue(queue, now))) {
      taken = await this.take(queue, size);
    }
    const { deliveries, more, dueAt } = taken;
    this.expect(destination, deliveries);
    const expected = this.expected.get(destination)!;
    // Deliveries that were added meanwhile count, too. While each command finds a job, the next claim is larger.
    expected.jobs = Math.max(expected.jobs - deliveries.length - (more ? size : jobs), more ? 2 * size : 0);
    if (expected.jobs === 0) this.expected.delete(destination);
    // If the system clock was set back, BullMQ may still hold due jobs back.
    const nextDueAt =
      more || dueAt === undefined ? undefined : Math.max(dueAt, now + Math.min(lead, LONGEST_LEAST_WAIT));
    return { deliveries, more, nextDueAt, dueAt };
  }

  /** Number of jobs that a destination is expected to have due. */
  expectedOf(destination: string): number {
    return this.expected.get(destination)?.jobs ?? 0;
  }

  /** Keeps the job that a command has locked besides settling another, for the next claim. */
  async keep(queue: DestinationJobs, answer: unknown): Promise<void> {
    const { destination } = queue;
    const { job } = toNext(answer);
    const expected = this.expected.get(destination);
    if (expected && (!job || --expected.jobs <= 0)) this.expected.delete(destination);
    if (!job) return;
    if (!isReadable(job)) return this.setAside(queue, job);
    const fetched = this.fetched.get(destination);
    if (fetched) return void fetched.push(toDelivery(destination, job));
    this.fetched.set(destination, [toDelivery(destination, job)]);
    this.fetched$.next(destination);
  }

  /** Forgets deliveries that were purged, also those whose lock a command in progress has got. */
  forget(ids: string[]): void {
    for (const id of ids) this.purged.add(id);
  }

  /**
   * Returns the ids of the deliveries that no claim has taken, which are not claimed any more. Called when leases are
   * renewed.
   */
  takeFetched(): string[] {
    const all = [...this.fetched.values()].flat();
    this.fetched = new Map();
    this.purgedBefore = this.purged;
    this.purged = new Set();
    return all.map(({ id }) => id);
  }

  private isPurged(id: string): boolean {
    return this.purged.has(id) || this.purgedBefore.has(id);
  }

  private async take(queue: DestinationJobs, size: number): Promise<Taken> {
    const { backend, destination } = queue;
    const { token } = this.store;
    this.store.group();
    const answers = await Promise.allSettled(Array.from({ length: size }, () => backend.moveToActive(token, token)));
    const taken: Taken = { deliveries: [], more: true, dueAt: undefined };
    const locked = new Set<string>();
    const unreadable: JobJson[] = [];
    let error: unknown;
    let isDamaged = false;
    for (const answer of answers) {
      if (answer.status === 'rejected') {
        if (isDamage(answer.reason)) isDamaged = true;
        else error = answer.reason;
        continue;
      }
      const { job, dueAt } = toNext(answer.value);
      if (!job) {
        taken.more = false;
        taken.dueAt = dueAt;
        continue;
      }
      locked.add(job.id);
      if (isReadable(job)) taken.deliveries.push(toDelivery(destination, job));
      else unreadable.push(job);
    }
    if (error && taken.deliveries.length === 0) throw error as Error;
    for (const job of unreadable) await this.setAside(queue, job);
    if (isDamaged) await this.setAsideDamaged(queue, locked);
    return taken;
  }

  /** Sets aside the jobs that BullMQ has locked but cannot read, as it does not say which. */
  async setAsideDamaged(queue: DestinationJobs, locked: ReadonlySet<string> = new Set()): Promise<void> {
    const { backend } = queue;
    const [active = []] = (await backend.getRanges(['active'], 0, -1)) as unknown as [string[]?];
    const places = this.leased().map(fromDeliveryId);
    const held = new Set(places.flatMap(({ queueName, jobId }) => (queueName === queue.queueName ? jobId : [])));
    for (const id of active) {
      if (held.has(id) || locked.has(id)) continue;
      const job = await readJob(queue, id);
      if (job && !isReadable(job)) await this.setAside(queue, job);
    }
  }

  /** Ends a locked job that cannot be read, so that it is not taken again. */
  private async setAside(queue: DestinationJobs, job: JobJson): Promise<void> {
    const { backend, destination } = queue;
    const [acceptedAt = 0] = await this.store.acceptedAt(queue, [job.id]);
    const ended = { id: job.id, opts: { attempts: 1 } } as MinimalJob;
    try {
      await backend.moveToFailed(ended, UNREADABLE, KEEP, this.store.token, false);
    } catch (error) {
      if (isLost(error)) return; // it belongs to another process
      if (!isDamage(error)) throw error;
      // Without the value, BullMQ makes the job due again as one whose lease has ended, and it is set aside then.
      return this.store.deleteValue(queue, job.id);
    }
    await this.store.recordUnreadable(queue, job.id);
    const { id } = placeOf(destination, { ...job, timestamp: job.timestamp || acceptedAt });
    logger.limited(
      'error',
      `Delivery ${id} to "${destination}" cannot be read, and is set aside as dead: its job was damaged or evicted`,
    );
  }

  /** Makes jobs due that BullMQ holds back because it compares with the system clock, which was set back. */
  private async makeDue(queue: DestinationJobs, now: number): Promise<boolean> {
    const { backend } = queue;
    const [ids = []] = (await backend.getRanges(['delayed'], 0, MAX_MADE_DUE - 1, true)) as unknown as [string[]?];
    let isAnyDue = false;
    for (const id of ids) {
      const job = await readJob(queue, id);
      const dueAt = job && nextAttemptAtOf(job);
      if (dueAt === undefined || dueAt > now) continue; // jobs planned since then precede some that are due
      // Another process may have been faster.
      isAnyDue = await backend.changeDelay(id, 0).then(
        () => true,
        () => isAnyDue,
      );
    }
    return isAnyDue;
  }
}

/** Reads what a command answers that may lock a job: the job, or when the next one falls due, if known. */
function toNext(answer: unknown): { job?: JobJson; dueAt?: number | undefined } {
  const [json, id, , dueAt] = (answer ?? []) as [(JobJson | null)?, string?, number?, number?];
  return json && id ? { job: { ...json, id } } : { dueAt: dueAt || undefined };
}
