import { once } from 'node:events';

import type { IQueueBackend } from 'bullmq';
import type { Cluster, Redis, RedisOptions } from 'ioredis';

import { errorMessage } from '../../../common/error.util.js';
import { LineLogger } from '../../../common/line.logger.js';
import { QueueUnavailableError } from '../../../common/relay.errors.js';
import { within } from '../../../common/time.util.js';
import type { DeliveryState } from '../delivery-queue.interface.js';
import type { CheckedBullmqOptions } from '../shared/bullmq.options.js';
import { loadBullmq, loadIoredis } from '../shared/peer.loader.js';
import { RedisRegistryStore } from './redis-registry.store.js';
import { checkRedis } from './redis-checks.js';
import { readPlaces } from './redis-places.js';
import {
  BACKEND_SETTINGS,
  type DestinationJobs,
  type JobPlace,
  type JobWaiter,
  MAX_WAIT,
  type SeenDelivery,
  type SharedStore,
  type StoredJob,
} from './shared-store.interface.js';
import { StoreOutage } from '../shared/store-outage.js';

/** How long Redis may take for a command, in ms. */
const COMMAND_TIMEOUT = 5_000;

/** How long the end of a connection is waited for, in ms. */
const DISCONNECT_TIMEOUT = 1_000;

/** Longest wait between two attempts to connect, in ms. */
const MAX_RECONNECT_DELAY = 2_000;

type Client = Redis | Cluster;

/** While Redis is unavailable, commands fail immediately; callers retry those that must succeed. */
const CLIENT_OPTIONS: RedisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (times) => Math.min(times * 100, MAX_RECONNECT_DELAY),
  // After a failover, the one that was the primary may still answer; Redis 6 says so within the error of a script.
  reconnectOnError: (error) => error.message.includes('READONLY'),
};

/** Jobs in Redis. */
export class RedisStore implements SharedStore {
  readonly registry = new RedisRegistryStore(this.options.prefix, () => this.client);
  private readonly logger = new LineLogger('BullmqQueue');
  private readonly outage = new StoreOutage('Redis', this.logger);
  private readonly clients = new Set<Client>();
  private ioredis!: Pick<typeof import('ioredis'), 'Redis'>;
  private client!: Client;
  private heartbeat: NodeJS.Timeout | undefined;
  private bullmq!: typeof import('bullmq');

  constructor(private readonly options: CheckedBullmqOptions) {}

  async open(): Promise<void> {
    this.bullmq = await loadBullmq();
    this.ioredis = await loadIoredis();
    this.client = this.createClient(COMMAND_TIMEOUT);
    try {
      await this.connect();
      await checkRedis(this.client, this.logger);
      this.heartbeat = setInterval(() => this.beat(), COMMAND_TIMEOUT);
      this.heartbeat.unref();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  backend(queueName: string, token?: string): IQueueBackend {
    const backend = this.bullmq.createRedisBackend(queueName, {
      ...BACKEND_SETTINGS,
      name: token,
      connection: this.client,
      prefix: this.options.prefix,
      skipVersionCheck: true, // done already, and with better words
    } as never);
    backend.on('error', () => undefined); // the client logs it
    return backend;
  }

  places(queueName: string, states: readonly DeliveryState[]): Promise<JobPlace[]> {
    return readPlaces(this.client, this.key(queueName, ''), states);
  }

  async jobs({ backend }: DestinationJobs, ids: string[]): Promise<StoredJob[]> {
    const jobs = await Promise.all(
      ids.map(async (id) => {
        const job = await backend.getJobData(id);
        return job && { ...job, id };
      }),
    );
    return jobs.filter((job) => job !== undefined);
  }

  waiter(queueName: string): JobWaiter {
    const client = this.createClient(2 * MAX_WAIT);
    const marker = this.key(queueName, 'marker');
    return {
      wait: async () => {
        if (client.status === 'wait') await client.connect();
        await client.bzpopmin(marker, MAX_WAIT / 1_000).catch((error: Error) => this.fail(client, error));
      },
      close: () => void this.disconnect(client),
    };
  }

  async addDestination(destination: string): Promise<void> {
    await this.client.sadd(this.key('destinations'), destination);
  }

  destinations(): Promise<string[]> {
    return this.client.smembers(this.key('destinations'));
  }

  async remember(queueName: string, deliveries: SeenDelivery[]): Promise<void> {
    const pipeline = this.client.pipeline();
    for (const { id, until } of deliveries) pipeline.set(this.key(queueName, 'seen', id), '', 'PXAT', until);
    for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
  }

  async remembered(queueName: string, ids: string[]): Promise<Set<string>> {
    const found = await this.client.mget(ids.map((id) => this.key(queueName, 'seen', id)));
    return new Set(ids.filter((_, index) => found[index] !== null));
  }

  async close(): Promise<void> {
    this.registry.close();
    clearInterval(this.heartbeat);
    await Promise.all([...this.clients].map((client) => this.disconnect(client)));
  }

  private key(...parts: string[]): string {
    return [this.options.prefix, ...parts].join(':');
  }

  private createClient(commandTimeout: number): Client {
    const { connection } = this.options;
    const options = { ...CLIENT_OPTIONS, commandTimeout };
    const client = isClient(connection)
      ? duplicate(connection, options)
      : typeof connection === 'string'
        ? new this.ioredis.Redis(connection, options)
        : new this.ioredis.Redis({ ...(connection as RedisOptions), ...options });
    client.on('error', (error) => this.outage.begin(error));
    client.on('close', () => this.outage.begin('the connection is closed'));
    client.on('ready', () => this.outage.end());
    this.clients.add(client);
    return client;
  }

  /** Waits for Redis as long as the options say. */
  private async connect(): Promise<void> {
    let last: unknown;
    const note = (error: unknown) => (last = error);
    this.client.on('error', note);
    this.client.connect().catch(note);
    try {
      await within(this.options.connectTimeout, once(this.client, 'ready'), 'the connection');
    } catch (error) {
      // No cause: an error of ioredis holds the command, and so the password.
      throw new QueueUnavailableError(`bullmqQueue: Redis cannot be reached: ${errorMessage(last ?? error)}`);
    } finally {
      this.client.off('error', note);
    }
  }

  /** Finds out whether the connection answers; of a key, so that a cluster asks the node that has the queue. */
  private beat(): void {
    const { client } = this;
    if (client.status !== 'ready') return;
    client.exists(this.key('destinations')).catch((error: Error) => this.fail(client, error).catch(() => undefined));
  }

  /**
   * Rejects with the error of a command. A host that is gone without a word never closes its connections, so one that
   * does not answer is made anew. The `socketTimeout` of ioredis would go off once more on the new connection.
   */
  private fail(client: Client, error: Error): Promise<never> {
    if (error.message === 'Command timed out') {
      this.outage.begin(error);
      client.disconnect(true);
    }
    return Promise.reject(error);
  }

  /** Resolves once the connection is closed. */
  private async disconnect(client: Client): Promise<void> {
    this.clients.delete(client);
    client
      .removeAllListeners('close')
      .removeAllListeners('error')
      .on('error', () => undefined);
    const ended: Promise<unknown> = client.status === 'end' ? Promise.resolve() : once(client, 'end');
    client.disconnect();
    await within(DISCONNECT_TIMEOUT, ended, 'closing').catch(() => undefined);
  }
}

function isClient(connection: string | object): connection is Client {
  return typeof (connection as Partial<Client>).duplicate === 'function';
}

function duplicate(client: Client, options: RedisOptions): Client {
  if (!('nodes' in client)) return client.duplicate(options);
  const { lazyConnect, enableOfflineQueue, ...own } = options;
  const redisOptions = { ...client.options.redisOptions, ...own };
  return client.duplicate([], { lazyConnect, enableOfflineQueue, redisOptions });
}
