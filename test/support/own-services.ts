import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { Redis } from 'ioredis';
import pg from 'pg';

import type { SharedQueueOptions } from './shared-queue.js';
import { temporaryFolder } from './temporary-folder.js';
import { waitFor } from './wait-for.js';

/** A store of a test's own, which it may kill and start again. */
export interface OwnService {
  readonly url: string;
  readonly options: SharedQueueOptions;
  /** Starts it, with what it holds; resolves once it answers. */
  start(): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Ends it, and removes what it holds. */
  remove(): Promise<void>;
}

/** A Redis that writes each change to its append-only file before it answers. */
export async function ownRedis(settings: string[] = ['--appendonly', 'yes', '--appendfsync', 'always']) {
  const folder = await temporaryFolder();
  const port = await freePort();
  mkdirSync(folder.path(''), { recursive: true });
  const url = `redis://127.0.0.1:${port}`;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder.path(''), '--save', '', ...settings];
  const answers = async () => {
    const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return (await redis.ping()) === 'PONG';
    } finally {
      redis.disconnect();
    }
  };
  return service(
    { url, prefix: 'relay' },
    () => spawn('redis-server', args, { stdio: 'ignore' }),
    answers,
    folder.remove,
  );
}

/**
 * A PostgreSQL cluster; its programs may not run as root, and run as `postgres` then.
 *
 * @param primary that it is a standby of, by its URL
 */
export async function ownPostgres(primary?: string) {
  const folder = await temporaryFolder();
  const port = await freePort();
  const data = folder.path('data');
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (isRoot) chownSync(folder.path(''), user.uid!, user.gid!);
  const program = (name: string) => join(postgresFolder(), name);
  const cwd = folder.path('');
  const [make, ...options] = primary
    ? ['pg_basebackup', '-d', primary, '-R', '-c', 'fast', '--no-sync']
    : ['initdb', '-A', 'trust', '-U', 'postgres', '--no-sync'];
  execFileSync(program(make), ['-D', data, ...options], { ...user, cwd, stdio: 'ignore' });
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${cwd}`,
  ];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const answers = async () => {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      return true;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const start = () => spawn(program('postgres'), args, { ...user, cwd, stdio: 'ignore' });
  return service({ url, backend: 'postgres' }, start, answers, folder.remove);
}

function service(
  { url, ...options }: { url: string } & Omit<SharedQueueOptions, 'connection'>,
  run: () => ChildProcess,
  answers: () => Promise<boolean>,
  removeFolder: () => Promise<void>,
): OwnService {
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url,
    options: { ...options, connection: url },
    kill,
    start: async () => {
      child = run();
      await waitFor(
        () => {
          // What is left of the one that was killed may hold the place for a moment.
          if (child!.exitCode !== null) child = run();
          return answers().catch(() => false);
        },
        () => `an answer of ${url}`,
      );
    },
    remove: async () => {
      await kill();
      await removeFolder();
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function idOf(option: string): number {
  return Number(execFileSync('id', [option, 'postgres']).toString());
}

/** Debian keeps the programs of each version apart, and off the path. */
function postgresFolder(): string {
  return execFileSync('sh', [
    '-c',
    'dirname "$(readlink -f "$(command -v postgres || ls /usr/lib/postgresql/*/bin/postgres | tail -1)")"',
  ])
    .toString()
    .trim();
}
