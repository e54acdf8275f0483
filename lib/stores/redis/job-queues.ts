import { randomUUID } from 'node:crypto';

import type { ErrorCode, IQueueBackend, QueueBaseOptions, WorkerOptions } from 'bullmq';

import { errorMessage } from '../../client/error.util.js';
import { ADDRESS_NOT_ALLOWED } from '../../common/relay.errors.js';
import { RedisDueList, run } from './redis-due-list.js';
import { RedisConnection } from './redis.connection.js';
import { RedisRegistryStore } from './redis-registry.store.js';
import { RedisLogStore } from './redis-log.store.js';
import { RedisSeriesStore } from './redis-series.store.js';
import { RedisSignals } from './redis-signals.js';
import { SearchKeys } from './search-keys.js';
import { loadBullmq } from '../shared/peer.loader.js';
import type { RedisQueueOptions } from './redis.options.js';
import { type NewJob, toQueueName } from './job.codec.js';

/** How long a leased job stays locked without a renewal, in ms. */
export const LOCK_DURATION = 15_000;

/** Time between lock renewals, and between checks for leases that ended with their process, in ms. */
export const UPKEEP_INTERVAL = 5_000;

/** Keeps all records until a sweep. */
export const KEEP = false;

/** Maximum number of BullMQ queues cached: each takes 4 KB of memory, and 20 us to create. */
const MAX_BACKENDS = 2_000;

/** Members of a sorted set read with one command, which blocks Redis. */
const PORTION = 1_000;

/** Approximate number of destinations in one sweep. */
const SWEPT = 500;

/** Remembers messages until a time: one command for all. */
const REMEMBER = `for _, key in ipairs(KEYS) do redis.call('SET', key, '', 'PXAT', ARGV[1]) end`;

/** Records when jobs are accepted; returns the positions of those that exist, which keep their time. */
const ACCEPT = `
  local existing = {}
  for index = 1, #ARGV, 2 do
    local isNew = redis.call('ZADD', KEYS[1], 'NX', ARGV[index], ARGV[index + 1]) == 1
    if not isNew then existing[#existing + 1] = (index - 1) / 2 end
  end
  return existing`;

/** Lifetime of the key that a check writes, in ms. */
const CHECK_TIME = 1_000;

/** BullMQ's codes for a job that is gone, not locked, not active, or locked by another process. */
const LOST: readonly ErrorCode[] = [-1, -2, -3, -6];

/** Whether an error means that the lease of a job is over. */
export function isLost(error: unknown): boolean {
  return LOST.includes((error as { code?: number }).code ?? 0);
}

/** Whether an error of BullMQ means that a job cannot be parsed, or that its key holds a value of another type. */
export function isDamage(error: unknown): boolean {
  return (error as Error).name === 'SyntaxError' || errorMessage(error).startsWith('WRONGTYPE');
}

/** The BullMQ queue of one destination. */
export interface DestinationJobs {
  destination: string;
  queueName: string;
  backend: IQueueBackend;
}

/** New jobs of one destination. */
interface NewJobs {
  queue: DestinationJobs;
  jobs: NewJob[];
}

/** The BullMQ queues under a prefix, and the keys beside them. */
export class JobQueues {
  /** Token with which this process locks its jobs; stored as `processedBy`, so that a purge can end any lease. */
  readonly token = randomUUID();
  private readonly connection = new RedisConnection(this.options);
  readonly signals = new RedisSignals(this.connection, this.token);
  readonly due = new RedisDueList(this.connection, this.signals);
  readonly registry = new RedisRegistryStore(this.connection, this.signals);
  readonly series = new RedisSeriesStore(this.connection);
  readonly keys = new SearchKeys(this.connection);
  readonly logs = new RedisLogStore(this.connection);
  private root!: IQueueBackend;
  /** In order of creation, the oldest first. */
  private readonly queues = new Map<string, DestinationJobs>();
  private readonly destinationsKey = this.connection.key('destinations');
  private readonly unreadableKey = this.connection.key('unreadable');
  private swept = '0';

  constructor(private readonly options: RedisQueueOptions) {}

  /** Connects. Rejects when Redis cannot be reached in time or is unsuitable. */
  async open(): Promise<void> {
    const { createRedisBackend } = await loadBullmq();
    await this.connection.open();
    const options: QueueBaseOptions & Partial<WorkerOptions> = {
      connection: this.connection.client,
      prefix: this.options.prefix,
      skipVersionCheck: true, // `checkRedis` does it, with a clearer message
      name: this.token,
      lockDuration: LOCK_DURATION,
      // Shorter than the interval of checks for lost leases: BullMQ skips a check that comes earlier than this.
      stalledInterval: UPKEEP_INTERVAL / 2,
      // Lost leases never make a delivery fail: only its retry window does.
      maxStalledCount: 2 ** 31 - 1,
    };
    try {
      this.root = createRedisBackend('relay', options);
    } catch (error) {
      await this.connection.close();
      throw error;
    }
    this.root.on('error', () => undefined); // the connection logs it
  }

  /** Returns the BullMQ queue of a destination; all queues share the connection. */
  queueOf(destination: string): DestinationJobs {
    const cached = this.queues.get(destination);
    if (cached) return cached;
    const queueName = toQueueName(destination);
    const queue = { destination, queueName, backend: this.root.forQueue(queueName) };
    this.queues.set(destination, queue);
    if (this.queues.size > MAX_BACKENDS) this.queues.delete(this.queues.keys().next().value!);
    return queue;
  }

  queueNamed(queueName: string): DestinationJobs {
    return this.queueOf(decodeURIComponent(queueName));
  }

  /**
   * Adds jobs, all or none as far as Redis can. Resolves with those of repeated messages, which are not added.
   *
   * @param memory how long a repeated message is skipped, in ms; if above 0, also as long as its job exists
   */
  async add(all: NewJobs[], memory: number): Promise<Set<NewJob>> {
    this.group();
    const destinations = all.map(({ queue }) => queue.destination);
    // Before the jobs, so that they are found even if this process ends meanwhile.
    const begun = this.due.add(this.client.pipeline().sadd(this.destinationsKey, destinations), destinations);
    const remembered = memory > 0 ? all : [];
    const keys = remembered.flatMap(({ queue, jobs }) => jobs.map(({ jobId }) => this.seenKey(queue, jobId)));
    const repeats = remembered.flatMap(({ queue, jobs }) =>
      jobs.flatMap(({ repeatedId }) => (repeatedId === undefined ? [] : this.seenKey(queue, repeatedId))),
    );
    const [, , found] = await run(memory > 0 ? begun.mget(keys) : begun);
    const seen = new Set(keys.filter((_, index) => (found as (string | null)[])[index] !== null));
    const isSeen = (queue: DestinationJobs) => (job: NewJob) => seen.has(this.seenKey(queue, job.jobId));
    const known = new Set(seen.size === 0 ? [] : all.flatMap(({ queue, jobs }) => jobs.filter(isSeen(queue))));
    const lists = all.map(({ queue, jobs }) => ({
      queue,
      jobs: known.size === 0 ? jobs : jobs.filter((job) => !known.has(job)),
    }));
    this.group();
    const existing = await Promise.all(lists.map((list) => this.addTo(list)));
    const ended = this.client.pipeline();
    // After the jobs: until then, a repeated message finds its job.
    const until = Date.now() + memory;
    const fresh = [...keys, ...repeats].filter((key) => !seen.has(key));
    if (fresh.length > 0) ended.eval(REMEMBER, fresh.length, ...fresh, until);
    await this.due.announce(ended, destinations);
    return new Set([...known, ...existing.flat()]);
  }

  /** Returns those of the destinations that remember a job, or have it. */
  async remembers(jobId: string, destinations: readonly string[]): Promise<string[]> {
    if (destinations.length === 0) return [];
    const asked = this.client.pipeline();
    for (const queue of destinations.map((destination) => this.queueOf(destination))) {
      asked.exists(this.seenKey(queue, jobId)).zscore(this.acceptedKey(queue.queueName), jobId);
    }
    const found = await run(asked);
    return destinations.filter((_, index) => found[2 * index] !== 0 || found[2 * index + 1] !== null);
  }

  /** Notifies all processes that a destination has due deliveries. */
  async announce(destination: string): Promise<void> {
    await this.due.announce(this.client.pipeline(), [destination]);
  }

  /** Resolves with the number of jobs that cannot be read. Rejects when Redis takes no writes. */
  async check(): Promise<number> {
    await this.client.set(this.connection.key('check'), '', 'PX', CHECK_TIME);
    return this.client.scard(this.unreadableKey);
  }

  /** Returns when the messages of jobs were accepted, in ms since the epoch; undefined where that is not recorded. */
  async acceptedAt({ queueName }: DestinationJobs, ids: string[]): Promise<(number | undefined)[]> {
    const times: (number | undefined)[] = [];
    for (let start = 0; start < ids.length; start += PORTION) {
      const found = await this.client.zmscore(this.acceptedKey(queueName), ids.slice(start, start + PORTION));
      times.push(...found.map((time) => (time === null ? undefined : Number(time))));
    }
    return times;
  }

  /** Deletes what is recorded of removed jobs. */
  async forget(queue: DestinationJobs, ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.client.zrem(this.acceptedKey(queue.queueName), ids);
    await this.keys.forget(queue.queueName, ids);
    await this.forgetUnreadable(queue, ids);
  }

  /** Records that a job cannot be read. */
  async recordUnreadable({ queueName }: DestinationJobs, id: string): Promise<void> {
    await this.client.sadd(this.unreadableKey, `${queueName}:${id}`);
  }

  /** To be called for jobs that are removed or replayed. */
  async forgetUnreadable({ queueName }: DestinationJobs, ids: string[]): Promise<void> {
    await this.client.srem(this.unreadableKey, ...ids.map((id) => `${queueName}:${id}`));
  }

  /** Deletes the value of another type that a job's key holds. */
  async deleteValue({ queueName }: DestinationJobs, id: string): Promise<void> {
    await this.client.del(this.connection.key(queueName, id));
  }

  /** As {@link RedisConnection.group}. */
  readonly group = (): void => this.connection.group();

  /** Returns every destination that ever had deliveries. */
  destinations(): Promise<string[]> {
    return this.client.smembers(this.destinationsKey);
  }

  /** Returns when the first record of each of these queues was delivered, in ms since the epoch; undefined without one. */
  async keptSince(queues: DestinationJobs[]): Promise<(number | undefined)[]> {
    const commands = this.client.pipeline();
    for (const { queueName } of queues) {
      commands.zrangebyscore(this.connection.key(queueName, 'completed'), '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1);
    }
    const found = (await run(commands)) as string[][];
    return found.map(([, time]) => (time === undefined ? undefined : Number(time)));
  }

  /** Returns the average size of the data of jobs, in bytes, with the attempt that delivered each. */
  async averageSize({ queueName }: DestinationJobs, ids: string[]): Promise<number> {
    const commands = this.client.pipeline();
    for (const id of ids) {
      const key = this.connection.key(queueName, id);
      commands.hstrlen(key, 'data').hstrlen(key, 'returnvalue');
    }
    const sizes = (await run(commands)) as number[];
    return sizes.reduce((sum, size) => sum + size, 0) / ids.length;
  }

  /** Returns the next of these destinations to sweep, a group at a time. */
  async nextSwept(): Promise<string[]> {
    const [cursor, names] = await this.client.sscan(this.destinationsKey, this.swept, 'COUNT', SWEPT);
    this.swept = cursor;
    return names;
  }

  /** Records that a queue may have dead deliveries that the network policy blocked, for as long as those are kept. */
  async recordRefusal(queue: DestinationJobs): Promise<void> {
    await this.client.set(this.seenKey(queue, ADDRESS_NOT_ALLOWED), '', 'PX', this.options.retention.dead.age);
  }

  /** Whether a queue may have dead deliveries that the network policy blocked. */
  async hasRefusals(queue: DestinationJobs): Promise<boolean> {
    return (await this.client.exists(this.seenKey(queue, ADDRESS_NOT_ALLOWED))) > 0;
  }

  /** Deletes the record of {@link recordRefusal}. */
  async endRefusals(queue: DestinationJobs): Promise<void> {
    await this.client.del(this.seenKey(queue, ADDRESS_NOT_ALLOWED));
  }

  async close(): Promise<void> {
    this.signals.close();
    this.queues.clear();
    await this.connection.close();
  }

  /** Resolves with the jobs that exist already. */
  private async addTo({ queue: { queueName, backend }, jobs }: NewJobs): Promise<NewJob[]> {
    if (jobs.length === 0) return [];
    const times = jobs.flatMap(({ jobId, job }) => [job.timestamp, jobId]);
    const accepted = this.client.eval(ACCEPT, 1, this.acceptedKey(queueName), ...times);
    const [existing] = await Promise.all([
      accepted as Promise<number[]>,
      this.keys.add(queueName, jobs),
      backend.addJobs(jobs),
    ]);
    return existing.map((position) => jobs[position]!);
  }

  private get client() {
    return this.connection.client;
  }

  /** Key of the times by which a listing is sorted. BullMQ keeps them in the jobs, where bodies would be read too. */
  private acceptedKey(queueName: string): string {
    return this.connection.key('{accepted}', queueName);
  }

  private seenKey({ queueName }: DestinationJobs, id: string): string {
    return this.connection.key(queueName, 'seen', id);
  }
}
