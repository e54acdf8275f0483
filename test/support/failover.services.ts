import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';

import { Redis } from 'ioredis';
import pg from 'pg';

import type { SharedQueueOptions } from './shared-queue.js';
import type { Afterwards } from './clean-ups.js';
import { Forwarder } from './forwarder.js';
import { freePort, ownPostgres, ownRedis } from './own-services.js';
import { temporaryFolder } from './temporary-folder.js';
import { waitFor } from './wait-for.js';

/** A store with a second one that follows it. */
export interface FailoverStore {
  options: SharedQueueOptions;
  /** Resolves once the second has all that was written before; needed where it follows in its own time. */
  caughtUp?: () => Promise<void>;
  /** Takes the first away. */
  lose: () => Promise<void>;
  /** Resolves once the second is in its place. */
  promoted: () => Promise<void>;
}

const NAME = 'relay';

async function redisPair(afterwards: Afterwards) {
  const first = await ownRedis();
  afterwards(() => first.remove());
  await first.start();
  const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--repl-diskless-sync-delay', '0'];
  const second = await ownRedis([...settings, '--replicaof', '127.0.0.1', new URL(first.url).port]);
  afterwards(() => second.remove());
  await second.start();
  const ask = async <T>(url: string, run: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return await run(redis);
    } finally {
      redis.disconnect();
    }
  };
  await waitFor(() => ask(second.url, async (redis) => (await redis.info()).includes('master_link_status:up')));
  // WAIT counts what its own connection has written, and so all that was written before that.
  const caughtUp = async () => {
    const followers = await ask(first.url, async (redis) => {
      await redis.set('probe', '');
      return redis.wait(1, 5_000);
    });
    if (followers !== 1) throw new Error('the replica did not catch up');
  };
  const isMaster = () => ask(second.url, async (redis) => (await redis.info()).includes('role:master'));
  // A sentinel that promotes a replica ends all connections to it, this one too.
  return { first, second, ask, caughtUp, promoted: () => waitFor(() => isMaster().catch(() => false)) };
}

/** A Redis, its replica, and a sentinel that promotes it once the first is gone. */
export async function redisWithSentinel(afterwards: Afterwards): Promise<FailoverStore> {
  const { first, ask, caughtUp, promoted } = await redisPair(afterwards);
  const folder = await temporaryFolder(afterwards);
  const port = await freePort();
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor ${NAME} 127.0.0.1 ${new URL(first.url).port} 1`,
    `sentinel down-after-milliseconds ${NAME} 1000`,
    `sentinel failover-timeout ${NAME} 5000`,
  ];
  writeFileSync(folder.path('sentinel.conf'), lines.join('\n'));
  const sentinel = spawn('redis-server', [folder.path('sentinel.conf'), '--sentinel'], { stdio: 'ignore' });
  afterwards(async () => {
    const ended = once(sentinel, 'exit');
    if (sentinel.kill('SIGKILL')) await ended;
  });
  const knowsReplica = async () => {
    const replicas = await ask(`redis://127.0.0.1:${port}`, (redis) => redis.call('SENTINEL', 'REPLICAS', NAME));
    return (replicas as unknown[]).length === 1;
  };
  await waitFor(() => knowsReplica().catch(() => false));
  const connection = { sentinels: [{ host: '127.0.0.1', port }], name: NAME };
  return { options: { connection, prefix: 'relay' }, caughtUp, lose: () => first.kill(), promoted };
}

/** A Redis and its replica behind an address that moves; the first then goes on as the replica of the second. */
export async function redisBehindAddress(afterwards: Afterwards): Promise<FailoverStore> {
  const { first, second, ask, caughtUp, promoted } = await redisPair(afterwards);
  const { port } = new URL(second.url);
  const forwarder = await Forwarder.start(afterwards, first.url);
  return {
    options: { connection: forwarder.url, prefix: 'relay' },
    caughtUp,
    lose: async () => {
      await ask(second.url, (redis) => redis.replicaof('NO', 'ONE'));
      await ask(first.url, (redis) => redis.replicaof('127.0.0.1', Number(port)));
      forwarder.target = Number(port);
    },
    promoted,
  };
}

/** A PostgreSQL and a standby that has each commit before it is acknowledged, behind an address that moves. */
export async function postgresWithStandby(afterwards: Afterwards): Promise<FailoverStore> {
  const first = await ownPostgres();
  afterwards(() => first.remove());
  await first.start();
  const second = await ownPostgres(first.url);
  afterwards(() => second.remove());
  await second.start();
  const query = async (url: string, text: string) => {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<{ found: boolean }>(text)).rows[0]?.found ?? false;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  await query(first.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await query(first.url, 'SELECT pg_reload_conf()');
  await waitFor(() =>
    query(first.url, `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync') AS found`),
  );
  const { port } = new URL(second.url);
  const forwarder = await Forwarder.start(afterwards, first.url);
  return {
    options: { backend: 'postgres', connection: forwarder.url },
    lose: () => first.kill(),
    promoted: async () => {
      await query(second.url, 'SELECT pg_promote()');
      forwarder.target = Number(port);
    },
  };
}
