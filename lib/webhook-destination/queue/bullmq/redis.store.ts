import type { IQueueBackend, QueueBaseOptions, WorkerOptions } from 'bullmq';

import { ADDRESS_NOT_ALLOWED } from '../delivery-queue.interface.js';
import type { CheckedBullmqOptions } from '../shared/bullmq.options.js';
import { loadBullmq } from '../shared/peer.loader.js';
import type { DestinationJobs } from './destination-jobs.interface.js';
import { DueList, run } from './due.list.js';
import { type NewJob, toQueueName } from './job.codec.js';
import { LOCK_DURATION, UPKEEP_INTERVAL } from './job-leases.js';
import { RedisConnection } from './redis.connection.js';
import { RedisRegistryStore } from './redis-registry.store.js';
import { RedisSeriesStore } from './redis-series.store.js';
import { RedisSignals } from './redis-signals.js';

/** BullMQ queues kept at hand: each takes 4 KB, and 20 us to make. */
const MOST_BACKENDS = 2_000;

/** Members of a sorted set read with one command, as Redis does nothing else meanwhile. */
const PORTION = 1_000;

/** Destinations that one sweep looks at, roughly. */
const SWEPT = 500;

/** How long the key of a check stays, in ms. */
const CHECK_TIME = 1_000;

/** New jobs of one destination. */
export interface NewJobs {
  queue: DestinationJobs;
  jobs: NewJob[];
}

/** The BullMQ queues of a prefix, and the keys beside them: no name of a BullMQ queue has a brace. */
export class RedisStore {
  readonly due: DueList;
  readonly registry: RedisRegistryStore;
  readonly series: RedisSeriesStore;
  readonly signals: RedisSignals;
  private readonly connection: RedisConnection;
  private root!: IQueueBackend;
  /** The one used last comes last. */
  private readonly queues = new Map<string, DestinationJobs>();
  private swept = '0';

  /** @param token that this process locks its jobs with; kept as `processedBy`, so that a purge can end any lease */
  constructor(
    private readonly options: CheckedBullmqOptions,
    private readonly token: string,
  ) {
    this.connection = new RedisConnection(options);
    const client = () => this.connection.client;
    this.signals = new RedisSignals(options.prefix, token, client);
    this.due = new DueList(options.prefix, this.signals, client);
    this.registry = new RedisRegistryStore(options.prefix, this.signals.registry$, client);
    this.series = new RedisSeriesStore(options.prefix, client);
  }

  /** Rejects when Redis cannot be reached in time, or is not fit for it. */
  async open(): Promise<void> {
    const { createRedisBackend } = await loadBullmq();
    await this.connection.open();
    const options: QueueBaseOptions & Partial<WorkerOptions> = {
      connection: this.connection.client,
      prefix: this.options.prefix,
      skipVersionCheck: true, // done already, and with better words
      name: this.token,
      lockDuration: LOCK_DURATION,
      // Shorter than the time between two looks for lost leases: BullMQ skips a look that comes earlier than this.
      stalledInterval: UPKEEP_INTERVAL / 2,
      // No number of lost leases makes a delivery fail: its retry window does.
      maxStalledCount: 2 ** 31 - 1,
    };
    this.root = createRedisBackend('relay', options);
    this.root.on('error', () => undefined); // the connection logs it
  }

  /** The BullMQ queue of a destination; all share the connection. */
  queueOf(destination: string): DestinationJobs {
    let queue = this.queues.get(destination);
    if (queue) this.queues.delete(destination);
    else {
      const queueName = toQueueName(destination);
      queue = { destination, queueName, backend: this.root.forQueue(queueName) };
    }
    this.queues.set(destination, queue);
    if (this.queues.size > MOST_BACKENDS) this.queues.delete(this.queues.keys().next().value!);
    return queue;
  }

  /**
   * Adds jobs, all or none as far as Redis can.
   *
   * @param memory how long a message is left out that comes again, in ms; it is as long as its job is there, if above 0
   */
  async add(all: NewJobs[], memory: number): Promise<void> {
    const destinations = all.map(({ queue }) => queue.destination);
    // Before the jobs: should this process end meanwhile, those that are added are looked for all the same.
    const begun = this.due.add(this.client.pipeline().sadd(this.key('destinations'), destinations), destinations);
    const keys = memory > 0 ? all.flatMap(({ queue, jobs }) => jobs.map((job) => this.seenKey(queue, job.jobId))) : [];
    const [, , found] = await run(memory > 0 ? begun.mget(keys) : begun);
    const seen = new Set(keys.filter((_, index) => (found as (string | null)[])[index] !== null));
    const isFresh = (queue: DestinationJobs) => (job: NewJob) => !seen.has(this.seenKey(queue, job.jobId));
    const fresh = seen.size === 0 ? all : all.map(({ queue, jobs }) => ({ queue, jobs: jobs.filter(isFresh(queue)) }));
    await Promise.all(fresh.map((list) => this.addTo(list)));
    const ended = this.due.announce(this.client.pipeline(), destinations);
    // After the jobs: a message that comes again before that finds its job.
    const until = Date.now() + memory;
    for (const key of keys) if (!seen.has(key)) ended.set(key, '', 'PXAT', until);
    await run(ended);
  }

  /** Tells all processes that a destination has something due. */
  async announce(destination: string): Promise<void> {
    await run(this.due.announce(this.client.pipeline(), [destination]));
  }

  /** Rejects when Redis takes no writes. */
  async check(): Promise<void> {
    await this.client.set(this.key('check'), '', 'PX', CHECK_TIME);
  }

  /** When the messages of jobs were accepted, in ms since the epoch; undefined where that was not noted. */
  async acceptedAt({ queueName }: DestinationJobs, ids: string[]): Promise<(number | undefined)[]> {
    const times: (number | undefined)[] = [];
    for (let start = 0; start < ids.length; start += PORTION) {
      const found = await this.client.zmscore(this.acceptedKey(queueName), ids.slice(start, start + PORTION));
      times.push(...found.map((time) => (time === null ? undefined : Number(time))));
    }
    return times;
  }

  /** Notes that jobs are gone. */
  async forget({ queueName }: DestinationJobs, ids: string[]): Promise<void> {
    if (ids.length > 0) await this.client.zrem(this.acceptedKey(queueName), ids);
  }

  /** Every destination that ever had deliveries. */
  destinations(): Promise<string[]> {
    return this.client.smembers(this.key('destinations'));
  }

  /** Some of these destinations, and others the next time. */
  async nextSwept(): Promise<string[]> {
    const [cursor, names] = await this.client.sscan(this.key('destinations'), this.swept, 'COUNT', SWEPT);
    this.swept = cursor;
    return names;
  }

  /** Notes for `age` ms that a queue may have dead deliveries that the network policy stopped. */
  async noteRefusal(queue: DestinationJobs, age: number): Promise<void> {
    await this.client.set(this.seenKey(queue, ADDRESS_NOT_ALLOWED), '', 'PX', age);
  }

  /** Whether that was noted. */
  async hasRefusals(queue: DestinationJobs): Promise<boolean> {
    return (await this.client.exists(this.seenKey(queue, ADDRESS_NOT_ALLOWED))) > 0;
  }

  /** Takes the note away. */
  async endRefusals(queue: DestinationJobs): Promise<void> {
    await this.client.del(this.seenKey(queue, ADDRESS_NOT_ALLOWED));
  }

  async close(): Promise<void> {
    this.signals.close();
    this.queues.clear();
    await this.connection.close();
  }

  private async addTo({ queue: { queueName, backend }, jobs }: NewJobs): Promise<void> {
    if (jobs.length === 0) return;
    const times = jobs.flatMap(({ jobId, job }) => [job.timestamp, jobId]);
    // A repeated message keeps the time of the job that is there.
    await Promise.all([this.client.zadd(this.acceptedKey(queueName), 'NX', ...times), backend.addJobs(jobs)]);
  }

  private get client() {
    return this.connection.client;
  }

  /** A listing is sorted by it. BullMQ keeps it in each job, beside the body, which would be read as well. */
  private acceptedKey(queueName: string): string {
    return this.key('{accepted}', queueName);
  }

  private seenKey({ queueName }: DestinationJobs, id: string): string {
    return this.key(queueName, 'seen', id);
  }

  private key(...parts: string[]): string {
    return [this.options.prefix, ...parts].join(':');
  }
}
