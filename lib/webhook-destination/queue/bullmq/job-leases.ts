import type { IQueueBackend, JobJson, MinimalJob } from 'bullmq';

import type { Delivery, DeliveryOutcome } from '../delivery-queue.interface.js';
import type { SteadyClock } from '../steady-clock.js';
import { lacksWindow, nextAttemptAtOf, toDelivery, toTrace } from './job.codec.js';
import { type DestinationJobs, LOCK_DURATION } from './shared-store.interface.js';

/** By how much the system's clock must be behind, in ms, for it to have been set back. */
const MIN_LEAD = 100;

/** Jobs that are made due at once, where BullMQ does not. */
const MOST_MADE_DUE = 100;

/** BullMQ's code for a job that is not locked. */
const NOT_LOCKED = -2;

/** Its codes for a job that is gone, is not locked, is not in delivery, or is locked by somebody else. */
const LOST = [-1, NOT_LOCKED, -3, -6];

/** With this, BullMQ does not ask who has locked a job: a worker of its own need not say. */
const ANY_TOKEN = '0';

/** Whether an error says that the lease of a job is over. */
export function isLost(error: unknown): boolean {
  return LOST.includes((error as { code?: number }).code ?? 0);
}

/** All records stay, until they are swept. */
const KEEP = false;

/** A job that this process has locked. */
export interface LeasedJob {
  job: JobJson;
  delivery: Delivery;
}

/** A job that was leased, if there was one, and when the next one falls due, in ms since the epoch, as far as known. */
export interface NextJob {
  leased: LeasedJob | undefined;
  dueAt: number | undefined;
}

/** The leases of one consumer. It keeps their jobs locked, so that no other process takes them. */
export class JobLeases {
  private readonly leased = new Map<string, LeasedJob>();
  private readonly backend: IQueueBackend;

  /** @param token of this process */
  constructor(
    readonly queue: DestinationJobs,
    private readonly token: string,
    private readonly clock: SteadyClock,
  ) {
    this.backend = queue.backend;
  }

  /** Leases the next job that is due. */
  async take(): Promise<NextJob> {
    const next = this.toNext(await this.backend.moveToActive(this.token, this.token));
    if (next.leased || this.clock.lead < MIN_LEAD || !(await this.makeDue())) return next;
    return this.toNext(await this.backend.moveToActive(this.token, this.token));
  }

  /**
   * Records an outcome, and leases the next due job with it where that is wanted and the job has ended. Without an
   * outcome, the job is put back.
   *
   * @throws {Error} when the lease is over, and then `isLost` holds, or when the store fails
   */
  async settle(leased: LeasedJob, outcome: DeliveryOutcome | undefined, fetchNext: boolean): Promise<NextJob> {
    const { job, delivery } = leased;
    const { backend, token } = this;
    if (this.leased.get(job.id)?.job !== job) throw Object.assign(new Error('the lease is over'), { code: NOT_LOCKED });
    const now = this.clock.now();
    const ended = { id: job.id, opts: { attempts: 1 } } as MinimalJob;
    let answer: unknown;
    if (outcome === undefined) {
      await putBack(backend, job.id, token);
    } else if (outcome.state === 'delivered') {
      ({ result: answer } = await backend.moveToCompleted(ended, outcome.attempt, KEEP, token, fetchNext));
    } else {
      const fieldsToUpdate = { stacktrace: toTrace(delivery, outcome, now) };
      if (outcome.state === 'dead') {
        const { reason } = outcome;
        ({ result: answer } = await backend.moveToFailed(ended, reason, KEEP, token, fetchNext, fieldsToUpdate));
      } else {
        const delay = Math.max(outcome.nextAttemptAt - now, 0);
        // By the system's clock, which BullMQ compares with, here and in other processes. The next job is not fetched
        // with it: on PostgreSQL that is a step of its own, which can fail when the outcome is recorded.
        await backend.moveToDelayed(job.id, Date.now(), delay, token, { fieldsToUpdate });
      }
    }
    this.end(leased);
    return this.toNext(answer);
  }

  /** Ends a lease without a word to the store. */
  end({ job }: LeasedJob): void {
    if (this.leased.get(job.id)?.job === job) this.leased.delete(job.id);
  }

  /** Puts a job back that nobody was given. */
  async giveBack(leased: LeasedJob): Promise<void> {
    this.end(leased);
    await putBack(this.backend, leased.job.id, this.token);
  }

  /** Renews the locks of all leased jobs. One that cannot be renewed shows when its job is settled. */
  async renew(): Promise<void> {
    const ids = [...this.leased.keys()];
    if (ids.length === 0) return;
    const tokens = ids.map(() => this.token);
    await this.backend.extendLocks(ids, tokens, LOCK_DURATION).catch(() => undefined);
  }

  /**
   * Makes jobs due again whose process has ended without a word. The window of each then begins with the lease that was
   * lost.
   */
  async recoverStalled(): Promise<void> {
    const { backend } = this;
    const [active = []] = (await backend.getRanges(['active'], 0, -1)) as unknown as [string[]?];
    const suspectsOf = Date.now() - LOCK_DURATION / 2;
    for (const id of active) {
      if (this.leased.has(id)) continue;
      const job = await backend.getJobData(id);
      if (!job?.processedOn || job.processedOn > suspectsOf || !lacksWindow(job)) continue;
      // A field of its own, so that it overwrites nothing, should the job move on meanwhile.
      await backend.updateProgress(id, job.processedOn).catch(() => undefined);
    }
    await backend.moveStalledJobsToWait();
  }

  /** Makes all leased jobs due again; the window of each began with its lease. */
  async releaseAll(): Promise<void> {
    const all = [...this.leased.values()];
    const released = all.map(({ job, delivery }) => {
      const { failedUrls, firstAttemptAt = job.processedOn } = delivery;
      const put = { job, delivery: { ...delivery, firstAttemptAt } };
      return this.settle(put, { state: 'waiting', nextAttemptAt: this.clock.now(), failedUrls }, false);
    });
    // What the store does not take back is due again once its lock has run out.
    await Promise.allSettled(released);
    for (const leased of all) this.end(leased);
  }

  /** BullMQ compares with the system's clock, and so leaves jobs waiting that fell due since that was set back. */
  private async makeDue(): Promise<boolean> {
    const { backend } = this;
    const now = this.clock.now();
    const [ids = []] = (await backend.getRanges(['delayed'], 0, MOST_MADE_DUE - 1, true)) as unknown as [string[]?];
    let isAnyDue = false;
    for (const id of ids) {
      const job = await backend.getJobData(id);
      const dueAt = job && nextAttemptAtOf(job);
      if (dueAt === undefined || dueAt > now) continue; // what was planned since stands before what falls due earlier
      // Another process may have been faster: on PostgreSQL, `promote` would put back what that one has leased meanwhile.
      isAnyDue = await backend.changeDelay(id, 0).then(
        () => true,
        () => isAnyDue,
      );
    }
    return isAnyDue;
  }

  private toNext(answer: unknown): NextJob {
    const [json, id, , dueAt] = (answer ?? []) as [(JobJson | null)?, string?, number?, number?];
    return { leased: json && id ? this.begin({ ...json, id }) : undefined, dueAt: dueAt || undefined };
  }

  private begin(job: JobJson): LeasedJob {
    const leased = { job, delivery: toDelivery(this.queue.destination, job) };
    this.leased.set(job.id, leased);
    return leased;
  }
}

/**
 * Ends the lease of a job: it is the next one to be taken. On PostgreSQL, `moveJobFromActiveToWait` would make it the
 * last one, and would make one due again that was settled meanwhile.
 */
async function putBack(backend: IQueueBackend, jobId: string, token = ANY_TOKEN): Promise<void> {
  await backend.retryJob(jobId, true, token);
}

/** Removes a job, leased or not; resolves with whether it existed. */
export async function removeJob(backend: IQueueBackend, jobId: string): Promise<boolean> {
  for (;;) {
    if ((await backend.remove(jobId, false)) > 0) return true;
    const job = await backend.getJobData(jobId);
    if (!job) return false;
    try {
      await putBack(backend, jobId, job.processedBy);
    } catch (error) {
      if (!isLost(error)) throw error;
    }
  }
}
