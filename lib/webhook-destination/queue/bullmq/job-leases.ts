import type { ErrorCode, IQueueBackend, JobJson, MinimalJob } from 'bullmq';

import { errorMessage } from '../../../client/error.util.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import { ADDRESS_NOT_ALLOWED, type Delivery, type DeliveryOutcome, UNREADABLE } from '../delivery-queue.interface.js';
import type { SteadyClock } from '../steady-clock.js';
import { isReadable, nextAttemptAtOf, placeOf, toDelivery, toTrace } from './job.codec.js';
import { readJob } from './job.finder.js';
import type { DestinationJobs, RedisStore } from './redis.store.js';

const logger = new LimitedLogger('BullmqQueue');

/** How long a leased job stays locked without a renewal, in ms. */
export const LOCK_DURATION = 15_000;

/** Time between lock renewals, and between checks for leases that ended with their process, in ms. */
export const UPKEEP_INTERVAL = 5_000;

/** Lag from which on the system clock counts as set back, in ms. */
const MIN_LEAD = 100;

/** Maximum number of jobs made due at once when BullMQ does not make them due. */
const MAX_MADE_DUE = 100;

/** BullMQ's code for a job that is not locked. */
const NOT_LOCKED: ErrorCode.JobLockNotExist = -2;

/** BullMQ's codes for a job that is gone, not locked, not active, or locked by another process. */
const LOST: readonly ErrorCode[] = [-1, NOT_LOCKED, -3, -6];

/** Whether an error means that the lease of a job is over. */
export function isLost(error: unknown): boolean {
  return LOST.includes((error as { code?: number }).code ?? 0);
}

/** Keeps all records until a sweep. */
const KEEP = false;

/** A job that this process has locked. */
export interface LeasedJob {
  job: JobJson;
  delivery: Delivery;
  /** When it was locked, in ms by `performance.now()`. */
  since: number;
}

/** The leased job, if there was one, and when the next one falls due, in ms since the epoch, if known. */
interface NextJob {
  leased: LeasedJob | undefined;
  dueAt: number | undefined;
}

/** The leases of one consumer: their jobs stay locked, so that no other process takes them. */
export class JobLeases {
  private readonly leased = new Map<string, LeasedJob>();

  constructor(
    readonly destination: string,
    private readonly store: RedisStore,
    private readonly clock: SteadyClock,
  ) {}

  /** Number of leased jobs. */
  get count(): number {
    return this.leased.size;
  }

  /** Leases the next due job, if there is one. */
  async take(): Promise<NextJob> {
    const next = await this.moveToActive();
    if (next.leased || this.clock.lead < MIN_LEAD || !(await this.makeDue())) return next;
    return this.moveToActive();
  }

  /** Whether the store shows that an outcome was recorded; false if that is unknown. */
  async isRecorded({ job }: LeasedJob, outcome: DeliveryOutcome | undefined): Promise<boolean> {
    const states = { delivered: 'completed', dead: 'failed', waiting: 'delayed' } as const;
    const state = await this.backend.getState(job.id).catch(() => undefined);
    return state === (outcome ? states[outcome.state] : 'waiting');
  }

  /**
   * Records an outcome. If the job has ended and `fetchNext` is set, the same command leases the next due job. Without
   * an outcome, the job is put back.
   *
   * @throws {Error} when the store fails, or when the lease is over: `isLost` is then true for the error
   */
  async settle(leased: LeasedJob, outcome: DeliveryOutcome | undefined, fetchNext: boolean): Promise<NextJob> {
    const { job, delivery } = leased;
    const { backend } = this;
    const { token } = this.store;
    if (this.leased.get(job.id)?.job !== job) throw Object.assign(new Error('the lease is over'), { code: NOT_LOCKED });
    const ended = { id: job.id, opts: { attempts: 1 } } as MinimalJob;
    let next: NextJob = { leased: undefined, dueAt: undefined };
    if (outcome === undefined) {
      await backend.retryJob(job.id, true, token); // it is then the next to be taken
      // If this fails, the destination is checked when the lease would have expired.
      await this.store.announce(this.destination).catch(() => undefined);
    } else if (outcome.state === 'delivered') {
      next = await this.toNext(() => backend.moveToCompleted(ended, outcome.attempt, KEEP, token, fetchNext));
    } else {
      const fieldsToUpdate = { stacktrace: toTrace(delivery, outcome) };
      if (outcome.state === 'dead') {
        const { reason } = outcome;
        next = await this.toNext(() => backend.moveToFailed(ended, reason, KEEP, token, fetchNext, fieldsToUpdate));
        if (reason === ADDRESS_NOT_ALLOWED) await this.recordRefusal();
      } else {
        // By the system clock, with which BullMQ compares in all processes.
        const dueAt = Date.now() + Math.max(outcome.nextAttemptAt - this.clock.now(), 0);
        await backend.moveToDelayed(job.id, Date.now(), dueAt - Date.now(), token, { fieldsToUpdate });
        await this.store.due.plan(this.destination, dueAt).catch(() => undefined); // as above
      }
    }
    this.end(leased);
    return next;
  }

  /** Ends a lease in this process only; the store is not changed. */
  end({ job }: LeasedJob): void {
    if (this.leased.get(job.id)?.job === job) this.leased.delete(job.id);
  }

  /** Renews all locks except those made just now. A failed renewal shows when the job is settled. */
  async renew(): Promise<void> {
    const before = performance.now() - UPKEEP_INTERVAL / 2;
    const ids = [...this.leased.values()].filter(({ since }) => since < before).map(({ job }) => job.id);
    if (ids.length === 0) return;
    const tokens = ids.map(() => this.store.token);
    await this.backend.extendLocks(ids, tokens, LOCK_DURATION).catch(() => undefined);
  }

  /** Makes jobs due again whose process crashed; resolves with whether there were any. */
  async recoverStalled(): Promise<boolean> {
    const { backend } = this;
    if ((await this.findOthers()).length === 0) return false;
    return (await backend.moveStalledJobsToWait()).length > 0;
  }

  /** Makes all leased jobs due again. */
  async releaseAll(): Promise<void> {
    const all = [...this.leased.values()].reverse(); // each goes before those that are due
    // A job that the store does not take back is due again once its lock expires.
    await Promise.allSettled(all.map((leased) => this.settle(leased, undefined, false)));
    for (const leased of all) this.end(leased);
  }

  /** Makes jobs due that BullMQ holds back because it compares with the system clock, which was set back. */
  private async makeDue(): Promise<boolean> {
    const { backend } = this;
    const now = this.clock.now();
    const [ids = []] = (await backend.getRanges(['delayed'], 0, MAX_MADE_DUE - 1, true)) as unknown as [string[]?];
    let isAnyDue = false;
    for (const id of ids) {
      const job = await readJob(this.queue, id);
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

  private moveToActive(): Promise<NextJob> {
    const { token } = this.store;
    return this.toNext(async () => ({ result: await this.backend.moveToActive(token, token) }));
  }

  /** Returns ids of active jobs that this consumer has not leased. */
  private async findOthers(): Promise<string[]> {
    const [active = []] = (await this.backend.getRanges(['active'], 0, -1)) as unknown as [string[]?];
    return active.filter((id) => !this.leased.has(id));
  }

  /** Runs a command that may lock the next job. A job that cannot be read is set aside, and the one after it is next. */
  private async toNext(lock: () => Promise<{ result: unknown }>): Promise<NextJob> {
    let answer: [(JobJson | null)?, string?, number?, number?];
    try {
      answer = ((await lock()).result ?? []) as typeof answer;
    } catch (error) {
      if ((error as Error).name !== 'SyntaxError') throw error;
      // BullMQ has locked a job that it cannot parse, and does not say which.
      for (const id of await this.findOthers()) {
        const job = await readJob(this.queue, id);
        if (job && !isReadable(job)) await this.setAside(job, false);
      }
      return this.moveToActive();
    }
    const [json, id, , dueAt] = answer;
    if (!json || !id) return { leased: undefined, dueAt: dueAt || undefined };
    const job = { ...json, id };
    if (isReadable(job)) return { leased: this.begin(job), dueAt: undefined };
    return this.toNext(() => this.setAside(job, true));
  }

  /** Ends a locked job that cannot be read, so that it is not taken again. */
  private async setAside(job: JobJson, fetchNext: boolean): Promise<{ result: unknown }> {
    const { queue } = this;
    const [acceptedAt = 0] = await this.store.acceptedAt(queue, [job.id]);
    await this.store.recordUnreadable(queue, job.id);
    const { id } = placeOf(this.destination, { ...job, timestamp: job.timestamp || acceptedAt });
    logger.limited(
      'error',
      `Delivery ${id} to "${this.destination}" cannot be read, and is set aside as dead: its job was damaged or evicted`,
    );
    const ended = { id: job.id, opts: { attempts: 1 } } as MinimalJob;
    return queue.backend.moveToFailed(ended, UNREADABLE, KEEP, this.store.token, fetchNext);
  }

  private begin(job: JobJson): LeasedJob {
    const leased = { job, delivery: toDelivery(this.destination, job), since: performance.now() };
    this.leased.set(job.id, leased);
    return leased;
  }

  /** Spares each start from reading all dead jobs to find those that the network policy blocked. */
  private async recordRefusal(): Promise<void> {
    try {
      await this.store.recordRefusal(this.queue);
    } catch (error) {
      logger.warn(
        `A dead delivery cannot be replayed automatically once its address is allowed: ${errorMessage(error)}`,
      );
    }
  }

  private get queue(): DestinationJobs {
    return this.store.queueOf(this.destination);
  }

  private get backend(): IQueueBackend {
    return this.queue.backend;
  }
}

/** Removes a job, leased or not; resolves with whether it existed. */
export async function removeJob(backend: IQueueBackend, jobId: string): Promise<boolean> {
  for (;;) {
    if ((await backend.remove(jobId, false)) > 0) return true;
    const job = await backend.getJobData(jobId);
    if (!job) return false;
    try {
      await backend.retryJob(jobId, true, job.processedBy);
    } catch (error) {
      if (!isLost(error)) throw error;
    }
  }
}
