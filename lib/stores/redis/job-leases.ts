import type { IQueueBackend, MinimalJob } from 'bullmq';

import { errorMessage } from '../../client/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import { ADDRESS_NOT_ALLOWED } from '../../common/relay.errors.js';
import type { Settlement, StoreOwner } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { compareAge, fromDeliveryId, toFields } from './job.codec.js';
import type { JobClaims } from './job-claims.js';
import {
  type DestinationJobs,
  isDamage,
  isLost,
  type JobQueues,
  KEEP,
  LOCK_DURATION,
  UPKEEP_INTERVAL,
} from './job-queues.js';

const logger = new LineLogger('BullmqQueue');

/** Locks renewed with one command, which blocks Redis. */
const PORTION = 1_000;

/**
 * Time without a renewal after which another process may have taken a job, in ms: one that was claimed just after a
 * renewal is renewed with the second one after it.
 */
const SILENCE = LOCK_DURATION - UPKEEP_INTERVAL;

/** The leases of this process: BullMQ's locks of the jobs. */
export class JobLeases {
  /** Leases at the latest renewal: each younger one lasts until the next. */
  private known = new Set<string>();
  /** When the latest renewal that succeeded began, in ms by `performance.now()`. */
  private renewedAt = -Infinity;

  constructor(
    private readonly store: JobQueues,
    private readonly claims: JobClaims,
  ) {}

  /** Whether no lease can have ended without this process's knowledge. */
  get areHeld(): boolean {
    return performance.now() - this.renewedAt < SILENCE;
  }

  /** Renews all leases, and withdraws those that are over. */
  async renew(owner: StoreOwner): Promise<void> {
    // No claim has taken these, so their locks are released, not renewed.
    await this.release(this.claims.takeFetched());
    const start = performance.now();
    const wereHeld = this.areHeld;
    const leased = owner.leased();
    const lost: string[] = [];
    for (const [queue, ids] of this.byQueue(wereHeld ? leased.filter((id) => this.known.has(id)) : leased)) {
      for (let first = 0; first < ids.length; first += PORTION) {
        const portion = new Map(ids.slice(first, first + PORTION).map((id) => [fromDeliveryId(id).jobId, id]));
        const tokens = Array.from(portion, () => this.store.token);
        const failed = await queue.backend.extendLocks([...portion.keys()], tokens, LOCK_DURATION);
        lost.push(...failed.map((jobId) => portion.get(jobId)!));
      }
    }
    this.known = new Set(leased);
    if (lost.length > 0) owner.withdrawn(lost);
    this.renewedAt = start;
    if (!wereHeld) owner.resumed();
  }

  /** Makes all leased jobs due again, in their former order. */
  async release(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    this.store.group();
    const places = ids.map(fromDeliveryId).sort(compareAge);
    const released = places.map(({ queueName, jobId }) =>
      this.store.queueNamed(queueName).backend.moveJobFromActiveToWait(jobId, this.store.token),
    );
    await Promise.allSettled(released); // one that Redis does not take back is due again once its lock expires
    await Promise.all([...this.byQueue(ids).keys()].map(({ destination }) => this.store.announce(destination)));
  }

  /** @param now the queue's time, in ms since the epoch */
  async settle(settlements: Settlement[], now: number): Promise<(boolean | Error)[]> {
    this.store.group();
    const ended = settlements.filter(({ outcome }) => outcome);
    const returned = settlements.filter(({ outcome }) => !outcome).sort(byAge);
    const results = new Map<Settlement, boolean | Error>();
    const plans = new Map<string, number>();
    const fetches = new Map<string, number>();
    const record = async (settlement: Settlement): Promise<void> => {
      const { destination } = settlement.delivery;
      const dueAt = this.dueAtOf(settlement, now);
      const result = await this.record(settlement, dueAt ?? 0, this.fetches(settlement, fetches));
      results.set(settlement, result);
      if (result === true && dueAt !== undefined)
        plans.set(destination, Math.min(plans.get(destination) ?? dueAt, dueAt));
    };
    await Promise.all([...ended, ...returned].map(record));
    const refused = new Set(
      ended.flatMap(({ outcome, delivery }) =>
        outcome?.state === 'dead' && outcome.reason === ADDRESS_NOT_ALLOWED ? delivery.destination : [],
      ),
    );
    await Promise.all([
      ...Array.from(plans, (plan) => this.plan(...plan)),
      ...Array.from(refused, (name) => this.recordRefusal(name)),
    ]);
    return settlements.map((settlement) => results.get(settlement)!);
  }

  /** Whether the command that settles a delivery is likely to lock the next job, too; counts those of its destination. */
  private fetches({ delivery, outcome, isInDoubt }: Settlement, counts: Map<string, number>): boolean {
    if (isInDoubt || !(outcome?.state === 'delivered' || outcome?.state === 'dead')) return false;
    const { destination } = delivery;
    const count = counts.get(destination) ?? 0;
    counts.set(destination, count + 1);
    return count < this.claims.expectedOf(destination);
  }

  /** Returns when a settled delivery is due again by the system clock, with which BullMQ compares in all processes. */
  private dueAtOf({ outcome }: Settlement, now: number): number | undefined {
    if (!outcome) return Date.now();
    return outcome.state === 'waiting' ? Date.now() + Math.max(outcome.nextAttemptAt - now, 0) : undefined;
  }

  private async record(settlement: Settlement, dueAt: number, fetches: boolean): Promise<boolean | Error> {
    const { delivery, outcome, isInDoubt } = settlement;
    const queue = this.store.queueOf(delivery.destination);
    const { backend } = queue;
    const { jobId: id } = fromDeliveryId(delivery.id);
    const { token } = this.store;
    const job = { id, opts: { attempts: 1 } } as MinimalJob;
    try {
      let next: { result?: unknown } | undefined;
      if (outcome === undefined) {
        await backend.moveJobFromActiveToWait(id, token); // it is then the next to be taken
      } else if (outcome.state === 'delivered') {
        next = await backend.moveToCompleted(job, outcome.attempt, KEEP, token, fetches);
      } else if (outcome.state === 'dead') {
        next = await backend.moveToFailed(job, outcome.reason, KEEP, token, fetches, toFields(settlement));
      } else {
        const now = Date.now();
        const options = { skipAttempt: outcome.attempt === undefined, fieldsToUpdate: toFields(settlement) };
        await backend.moveToDelayed(id, now, Math.max(dueAt - now, 0), token, options);
      }
      if (fetches) await this.claims.keep(queue, next?.result);
      return true;
    } catch (error) {
      const isNextDamaged = fetches && isDamage(error);
      if (isNextDamaged) await this.claims.setAsideDamaged(queue).catch(() => undefined);
      else if (!isLost(error)) return error as Error;
      return (isNextDamaged || isInDoubt) && (await isRecorded(backend, id, outcome));
    }
  }

  /** Without the plan, the destination is checked when the lease would have expired. */
  private async plan(destination: string, dueAt: number): Promise<void> {
    const planned = dueAt > Date.now() ? this.store.due.plan(destination, dueAt) : this.store.announce(destination);
    await planned.catch(() => undefined);
  }

  /** Spares each start from reading all dead jobs to find those that the network policy blocked. */
  private async recordRefusal(destination: string): Promise<void> {
    try {
      await this.store.recordRefusal(this.store.queueOf(destination));
    } catch (error) {
      logger.warn(
        `A dead delivery cannot be replayed automatically once its address is allowed: ${errorMessage(error)}`,
      );
    }
  }

  private byQueue(ids: string[]): Map<DestinationJobs, string[]> {
    const queues = new Map<DestinationJobs, string[]>();
    for (const id of ids) {
      const queue = this.store.queueNamed(fromDeliveryId(id).queueName);
      const list = queues.get(queue);
      if (list) list.push(id);
      else queues.set(queue, [id]);
    }
    return queues;
  }
}

/** Compares deliveries, newest first. */
function byAge(one: Settlement, other: Settlement): number {
  return compareAge(fromDeliveryId(one.delivery.id), fromDeliveryId(other.delivery.id));
}

/** Whether Redis shows that an outcome was recorded; false if that is unknown. */
async function isRecorded(backend: IQueueBackend, id: string, outcome: Settlement['outcome']): Promise<boolean> {
  const states = { delivered: 'completed', dead: 'failed', waiting: 'delayed' } as const;
  const state = await backend.getState(id).catch(() => undefined);
  return state === (outcome ? states[outcome.state] : 'waiting');
}

/** Removes a job, leased or not; resolves with whether it existed. */
export async function removeJob(store: JobQueues, queue: DestinationJobs, id: string): Promise<boolean> {
  const { backend } = queue;
  for (;;) {
    try {
      if ((await backend.remove(id, false)) > 0) return true;
      const job = await backend.getJobData(id);
      if (!job) return false;
      await backend.moveJobFromActiveToWait(id, job.processedBy);
    } catch (error) {
      if (isDamage(error)) await store.deleteValue(queue, id);
      else if (!isLost(error)) throw error;
    }
  }
}
