import { once } from 'node:events';

import type { Cluster, Redis, RedisOptions } from 'ioredis';

import { errorMessage } from '../../client/error.util.js';
import { QueueUnavailableError } from '../../common/relay.errors.js';
import { within } from '../../common/promise.util.js';
import type { RedisQueueOptions } from './redis.options.js';
import { loadIoredis } from '../shared/peer.loader.js';
import { StoreOutage } from '../shared/store-outage.js';
import { checkRedis } from './redis-checks.js';

/** Timeout of a Redis command, in ms. */
const COMMAND_TIMEOUT = 5_000;

/** Maximum wait for the connection to close, in ms. */
const DISCONNECT_TIMEOUT = 1_000;

/** Maximum wait between two attempts to connect, in ms. */
const MAX_RECONNECT_DELAY = 2_000;

export type Client = Redis | Cluster;

/** While Redis is unavailable, commands fail immediately; callers retry those that must succeed. */
const CLIENT_OPTIONS: RedisOptions = {
  lazyConnect: true,
  keyPrefix: '', // BullMQ refuses a client with one; the queue has a prefix of its own
  replyMapping: 'legacy', // replies are read in these shapes, whichever the application's client has
  stringNumbers: false,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_TIMEOUT,
  retryStrategy: (times) => Math.min(times * 100, MAX_RECONNECT_DELAY),
  // After a failover, the former primary may still answer; Redis 6 reports that within the error of a script.
  reconnectOnError: (error) => error.message.includes('READONLY'),
};

/** The connection that a queue sends its commands on. */
export class RedisConnection {
  client!: Client;
  private readonly outage = new StoreOutage('Redis', 'BullmqQueue');
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(private readonly options: RedisQueueOptions) {}

  /** Channels of the signals between processes. */
  get channels() {
    return {
      registry: this.key('{registry}', 'changed'),
      due: this.key('due'),
      peer: this.key('peer'),
      purged: this.key('purged'),
    };
  }

  /** Connects. Rejects when Redis cannot be reached in time, or does not suit the queue. */
  async open(): Promise<void> {
    const { Redis } = await loadIoredis();
    this.client = createClient(this.options.connection, Redis);
    this.client.on('error', (error) => this.outage.begin(error));
    this.client.on('close', () => this.outage.begin('the connection is closed'));
    this.client.on('ready', () => this.outage.end());
    try {
      await this.connect();
      const keys = [this.key('due'), this.key('destinations'), this.key('{layout}')];
      await checkRedis(this.client, this.options, keys, Object.values(this.channels));
      this.heartbeat = setInterval(() => this.checkConnection(), COMMAND_TIMEOUT).unref();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /**
   * Returns a key of this queue. Braces set it apart from BullMQ queues, and keep all keys with the same text in braces
   * on one node of a cluster.
   */
  key(...parts: string[]): string {
    return [this.options.prefix, ...parts].join(':');
  }

  /** Sends the commands of this turn of the event loop with one write; a cluster sends them one by one. */
  group(): void {
    const { stream } = this.client as Partial<Redis>;
    if (!stream || stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }

  /** Resolves once the connection is closed. */
  async close(): Promise<void> {
    const client = this.client as Client | undefined;
    if (!client) return; // opening failed before it was created
    clearInterval(this.heartbeat);
    client
      .removeAllListeners('close')
      .removeAllListeners('error')
      .on('error', () => undefined);
    const ended: Promise<unknown> = client.status === 'end' ? Promise.resolve() : once(client, 'end');
    client.disconnect();
    await within(DISCONNECT_TIMEOUT, ended, 'closing').catch(() => undefined);
  }

  /** Waits for Redis for at most `connectTimeout`. */
  private async connect(): Promise<void> {
    let last: unknown;
    const note = (error: unknown) => (last = error);
    this.client.on('error', note);
    this.client.connect().catch(note);
    try {
      // A server without TLS waits for the rest of a command, so that nothing else tells why.
      const isSecure = 'tls' in this.client.options && this.client.options.tls !== undefined;
      const connection = isSecure ? 'the connection with TLS' : 'the connection';
      await within(this.options.connectTimeout, once(this.client, 'ready'), connection);
    } catch (error) {
      // No cause: an error of ioredis holds the command, and so the password.
      throw new QueueUnavailableError(`bullmqQueue: Redis cannot be reached: ${errorMessage(last ?? error)}`);
    } finally {
      this.client.off('error', note);
    }
  }

  /**
   * Reconnects when Redis does not answer, because a host that vanishes never closes its connections. The
   * `socketTimeout` of ioredis would fire again on the new connection.
   */
  private checkConnection(): void {
    const { client } = this;
    if (client.status !== 'ready') return;
    // With a key, so that a cluster asks the node that holds the queue.
    client.exists(this.key('due')).catch((error: Error) => {
      if (error.message !== 'Command timed out') return;
      this.outage.begin(error);
      client.disconnect(true);
    });
  }
}

/** Creates a client with the given settings, or with those of the given client. */
function createClient(connection: string | object, Constructor: typeof Redis): Client {
  // The parameters of a URL would override these options, so they are applied to a copy.
  if (typeof connection === 'string')
    return new Constructor(connection, { lazyConnect: true }).duplicate(CLIENT_OPTIONS);
  if (!isClient(connection)) return new Constructor({ ...connection, ...CLIENT_OPTIONS });
  if (!('nodes' in connection)) return connection.duplicate(CLIENT_OPTIONS);
  const { lazyConnect, keyPrefix, enableOfflineQueue, ...own } = CLIENT_OPTIONS;
  const redisOptions = { ...connection.options.redisOptions, ...own };
  return connection.duplicate([], { lazyConnect, keyPrefix, enableOfflineQueue, redisOptions });
}

function isClient(connection: object): connection is Client {
  return typeof (connection as Partial<Client>).duplicate === 'function';
}
