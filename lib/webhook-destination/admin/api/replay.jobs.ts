import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorMessage } from '../../../client/error.util.js';
import { LineLogger } from '../../../common/line.logger.js';
import { RequestError } from '../../http/request.error.js';
import type { ReplayableState } from '../../queue/delivery.interface.js';
import type { DeliverySearch } from '../../queue/delivery-search.js';
import type { PeerChannel } from '../../queue/peer-channel.interface.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { ReplayPeers } from './replay.peers.js';

/** Maximum number of deliveries replayed at a time. */
const PORTION = 200;

/** Number of portions per second of a replay with a rate, if they are not too large. */
const PORTIONS = 10;

/** Number of replays to remember; running ones are never forgotten. */
const MAX_JOBS = 100;

/** A request for a bulk replay. */
export interface ReplayRequest {
  search: DeliverySearch & { state: ReplayableState };
  /** The search as the caller gave it, with its state. */
  query: ReplayProgress['query'];
  /** Number of matching deliveries that the caller has seen. */
  expected: number;
  /** Deliveries replayed per second; undefined for as many as the queue takes. */
  rate: number | undefined;
}

/** Progress of a bulk replay. */
export interface ReplayProgress {
  id: string;
  state: 'running' | 'done' | 'cancelled' | 'failed';
  /** The deliveries that were searched for, as in `POST replays`, with the state that they had. */
  query: Record<string, string> & { state: ReplayableState };
  /** Deliveries that matched at the start. */
  total: number;
  /** Deliveries replayed. */
  done: number;
  /** Deliveries still to be replayed. */
  left: number;
  /** Deliveries skipped because they had been replayed or removed in the meantime. */
  skipped: number;
  /** Deliveries replayed per second at most; absent if that is not limited. */
  rate?: number;
  /** Estimated time until it is done, in ms; absent unless it runs, and until there is an estimate. */
  timeLeft?: number;
  startedAt: number;
  endedAt?: number;
  /** Why it failed. */
  error?: string;
}

/** Runs bulk replays, portion by portion. Other processes that share the queue show and cancel them through this one. */
export class ReplayJobs {
  private readonly logger = new LineLogger('WebhookDestination');
  private readonly jobs = new Map<string, Job>();
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
   * Starts a replay of the deliveries that match.
   * @throws {RequestError} 409, with nothing replayed, if a different number matches
   */
  async start({ search, query, expected, rate }: ReplayRequest): Promise<ReplayProgress> {
    const { state } = search;
    const ids = await this.search(search, expected + 1);
    if (ids.length !== expected) {
      const count = ids.length > expected ? `more than ${expected}` : String(ids.length);
      const rule = `expected must be the number of ${state} deliveries that match, which is ${count}`;
      throw new RequestError('expected_differs', rule, 'expected');
    }
    const progress: ReplayProgress = {
      id: randomUUID(),
      state: 'running',
      query,
      total: ids.length,
      done: 0,
      left: ids.length,
      skipped: 0,
      ...(rate !== undefined && { rate }),
      startedAt: Date.now(),
    };
    const job = { progress, end: new AbortController() };
    this.remember(job);
    const shown = show(job);
    void this.run(job, ids, state);
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
    for (const job of this.jobs.values()) {
      const { state, id, done, total, left } = job.progress;
      if (state !== 'running') continue;
      this.end(job, 'cancelled');
      this.logger.warn(`Replay ${id} ends with this process: ${done} of ${total} deliveries replayed, ${left} not`);
    }
    this.peers?.close();
  }

  /** Returns a replay of this process, cancelled on request. */
  private findOwn(id: string, cancel: boolean): ReplayProgress | undefined {
    const job = this.jobs.get(id);
    if (cancel && job) this.end(job, 'cancelled');
    return job && show(job);
  }

  /** Returns the ids of matching deliveries, up to the limit. */
  private async search(search: DeliverySearch, limit: number): Promise<string[]> {
    const ids: string[] = [];
    await this.queue.searches.visit(search, ({ id }) => ids.push(id) === limit || this.isClosed);
    return ids;
  }

  /** Never rejects. */
  private async run(job: Job, ids: string[], state: ReplayableState): Promise<void> {
    const { progress, end } = job;
    const { rate } = progress;
    const size = Math.max(1, Math.min(PORTION, Math.floor((rate ?? Infinity) / PORTIONS)));
    const pause = rate === undefined ? 0 : 1_000 / Math.floor(rate / size);
    try {
      for (let start = 0; start < ids.length && !end.signal.aborted && !this.isClosed; start += size) {
        const next = performance.now() + pause;
        const portion = ids.slice(start, start + size);
        const results = await Promise.allSettled(portion.map((id) => this.relay.replay({ id, state })));
        const counts = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
        const replayed = counts.reduce((sum, count) => sum + count, 0);
        progress.done += replayed;
        progress.skipped += counts.length - replayed;
        progress.left -= counts.length;
        const failed = results.find((result) => result.status === 'rejected');
        if (failed) throw failed.reason;
        if (progress.left > 0) await pauseUntil(next, end.signal);
      }
      this.end(job, progress.left === 0 ? 'done' : 'cancelled');
    } catch (error) {
      this.end(job, 'failed', errorMessage(error));
    }
  }

  /** Ends a replay, unless it has ended. */
  private end({ progress, end }: Job, state: ReplayProgress['state'], error?: string): void {
    if (progress.state !== 'running') return; // cancelled while a portion was in flight
    Object.assign(progress, { state, endedAt: Date.now(), ...(error !== undefined && { error }) });
    end.abort();
  }

  private remember(job: Job): void {
    this.jobs.set(job.progress.id, job);
    for (const [id, { progress }] of this.jobs) {
      if (this.jobs.size <= MAX_JOBS) break;
      if (progress.state !== 'running') this.jobs.delete(id);
    }
  }
}

/** A bulk replay of this process. */
interface Job {
  progress: ReplayProgress;
  /** Aborted when it ends. */
  end: AbortController;
}

/** Returns a copy of the progress, with the time left. */
function show({ progress }: Job): ReplayProgress {
  const { state, rate, total, left, startedAt } = progress;
  if (state !== 'running') return { ...progress };
  const took = Date.now() - startedAt;
  const perDelivery = rate === undefined ? took / (total - left) : 1_000 / rate;
  return { ...progress, ...(Number.isFinite(perDelivery) && { timeLeft: Math.round(left * perDelivery) }) };
}

/** @param moment in ms by `performance.now()` */
async function pauseUntil(moment: number, signal: AbortSignal): Promise<void> {
  const wait = moment - performance.now();
  if (wait > 0) await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
}
