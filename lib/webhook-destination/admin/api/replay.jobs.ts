import { randomUUID } from 'node:crypto';

import { errorMessage } from '../../../client/error.util.js';
import { RequestError } from '../../http/request.error.js';
import type { DeliverySearch } from '../../queue/delivery-search.js';
import type { PeerChannel } from '../../queue/peer-channel.interface.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { ReplayPeers } from './replay.peers.js';

/** Maximum number of deliveries in one replay. */
const MAX_REPLAYED = 1_000_000;

/** Number of deliveries replayed at a time. */
const PORTION = 200;

/** Number of replays to remember; running ones are never forgotten. */
const MAX_JOBS = 100;

/** Progress of a bulk replay. */
export interface ReplayProgress {
  id: string;
  state: 'running' | 'done' | 'cancelled' | 'failed';
  /** Deliveries that matched at the start. */
  total: number;
  /** Deliveries replayed. */
  done: number;
  /** Deliveries still to be replayed. */
  left: number;
  /** Deliveries skipped because they had been replayed or removed in the meantime. */
  skipped: number;
  startedAt: number;
  endedAt?: number;
  /** Why it failed. */
  error?: string;
}

/** Runs bulk replays, portion by portion. Other processes that share the queue show and cancel them through this one. */
export class ReplayJobs {
  private readonly jobs = new Map<string, ReplayProgress>();
  private readonly peers: ReplayPeers | undefined;
  private isClosed = false;

  /** @param channel channel to the processes that share the queue; undefined if the queue is not shared */
  constructor(
    private readonly relay: Pick<AdminRelay, 'replay'>,
    private readonly queue: Pick<AdminProcess['queue'], 'searches'>,
    channel?: PeerChannel,
  ) {
    if (channel) this.peers = new ReplayPeers(channel, (id, cancel) => this.findOwn(id, cancel));
  }

  /** Starts answering other processes. Call it once the queue is open. */
  open(): void {
    this.peers?.open();
  }

  /**
   * Starts a replay of the dead deliveries that match.
   *
   * @param expected number of matching deliveries that the caller has seen
   * @throws {RequestError} 409, with nothing replayed, if a different number matches
   */
  async start(search: DeliverySearch, expected: number): Promise<ReplayProgress> {
    if ((search.state ?? 'dead') !== 'dead') {
      throw new RequestError('state_invalid', 'state must be dead: only dead deliveries are replayed', 'state');
    }
    if (expected > MAX_REPLAYED)
      throw new RequestError('expected_invalid', `expected must be ${MAX_REPLAYED} at most`, 'expected');
    const ids = await this.search({ ...search, state: 'dead' }, expected + 1);
    if (ids.length !== expected) {
      const count = ids.length > expected ? `more than ${expected}` : String(ids.length);
      const rule = `expected must be the number of dead deliveries that match, which is ${count}`;
      throw new RequestError('expected_differs', rule, 'expected');
    }
    const job: ReplayProgress = {
      id: randomUUID(),
      state: 'running',
      total: ids.length,
      done: 0,
      left: ids.length,
      skipped: 0,
      startedAt: Date.now(),
    };
    this.remember(job);
    const shown = { ...job };
    void this.run(job, ids);
    return shown;
  }

  /**
   * Returns a replay of this process, or of another that shares the queue.
   *
   * @param cancel whether to stop it first; deliveries already replayed stay replayed
   * @throws {RequestError} 404
   */
  async find(id: string, cancel = false): Promise<ReplayProgress> {
    const job = this.findOwn(id, cancel) ?? (await this.peers?.ask(id, cancel));
    if (job) return job;
    throw new RequestError('replay_unknown', 'no process that shares the queue has a replay of this id', 'id');
  }

  close(): void {
    this.isClosed = true;
    this.peers?.close();
  }

  /** Returns a replay of this process, cancelled on request. */
  private findOwn(id: string, cancel: boolean): ReplayProgress | undefined {
    const job = this.jobs.get(id);
    if (cancel && job?.state === 'running') this.end(job, 'cancelled');
    return job;
  }

  /** Returns the ids of matching deliveries, up to the limit. */
  private async search(search: DeliverySearch, limit: number): Promise<string[]> {
    const ids: string[] = [];
    await this.queue.searches.visit(search, ({ id }) => ids.push(id) === limit || this.isClosed);
    return ids;
  }

  /** Never rejects. */
  private async run(job: ReplayProgress, ids: string[]): Promise<void> {
    try {
      for (let start = 0; start < ids.length && job.state === 'running' && !this.isClosed; start += PORTION) {
        const portion = ids.slice(start, start + PORTION);
        const results = await Promise.allSettled(portion.map((id) => this.relay.replay(id)));
        const counts = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
        const replayed = counts.reduce((sum, count) => sum + count, 0);
        job.done += replayed;
        job.skipped += counts.length - replayed;
        job.left -= counts.length;
        const failed = results.find((result) => result.status === 'rejected');
        if (failed) throw failed.reason;
      }
      if (job.state === 'running') this.end(job, job.left === 0 ? 'done' : 'cancelled');
    } catch (error) {
      if (job.state !== 'running') return; // cancelled while a portion was in flight
      job.error = errorMessage(error);
      this.end(job, 'failed');
    }
  }

  private end(job: ReplayProgress, state: ReplayProgress['state']): void {
    job.state = state;
    job.endedAt = Date.now();
  }

  private remember(job: ReplayProgress): void {
    this.jobs.set(job.id, job);
    for (const [id, { state }] of this.jobs) {
      if (this.jobs.size <= MAX_JOBS) break;
      if (state !== 'running') this.jobs.delete(id);
    }
  }
}
