import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';
import pg from 'pg';

import type { SoakEngine } from './soak.plan.js';

/** Where the queue of a soak lies: a file for each relay, or a Redis or PostgreSQL of its own that they share. */
export interface SoakStore {
  /** The file of a relay, or the URL. */
  place(relay?: number): string;
  /** Its size in bytes: the files and their logs, Redis' memory, or the database. */
  size(): Promise<number>;
  /** Kills the server and starts it again after a time, in ms. Absent for files. */
  crash?(downFor: number): Promise<void>;
  remove(): Promise<void>;
}

/** How long a server may take to start, in ms. */
const START_TIME = 30_000;

export async function startStore(engine: SoakEngine): Promise<SoakStore> {
  const folder = await mkdtemp(join(tmpdir(), 'relay-soak-'));
  return { sqlite: sqliteFiles, redis: ownRedis, postgres: ownPostgres }[engine](folder);
}

function sqliteFiles(folder: string): SoakStore {
  const files = new Set<string>();
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    place: (relay = 0) => {
      const file = join(folder, `relay-${relay}.db`);
      files.add(file);
      return file;
    },
    size: () => Promise.resolve([...files].reduce((sum, file) => sum + sizeOf(file) + sizeOf(`${file}-wal`), 0)),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** With an append-only file that is written before each answer. */
async function ownRedis(folder: string): Promise<SoakStore> {
  const port = await freePort();
  const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'yes', appendfsync: 'always' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { retryStrategy: () => 100, maxRetriesPerRequest: null });
  client.on('error', () => undefined); // until it listens
  return server(
    folder,
    url,
    () => spawn('redis-server', args, { stdio: 'ignore' }),
    () => client.ping(),
    async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))![1]),
    () => client.disconnect(),
  );
}

/** Its programs do not run as root, and run as `postgres` then. */
async function ownPostgres(folder: string): Promise<SoakStore> {
  const port = await freePort();
  const id = (option: string) => Number(execFileSync('id', [option, 'postgres']));
  const user = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const find = 'dirname "$(readlink -f "$(command -v postgres || ls /usr/lib/postgresql/*/bin/postgres | tail -1)")"';
  const programs = execFileSync('sh', ['-c', find]).toString().trim();
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder, stdio: 'ignore' } as const;
  execFileSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres'], options);
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`].flatMap((text) => ['-c', text]);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const ask = async <T extends object>(statement: string) => {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<T>(statement)).rows[0]!;
    } finally {
      await client.end();
    }
  };
  return server(
    folder,
    url,
    () => spawn(join(programs, 'postgres'), ['-D', data, '-p', `${port}`, ...settings], options),
    () => ask('SELECT 1'),
    async () => Number((await ask<{ size: string }>('SELECT pg_database_size(current_database()) AS size')).size),
    () => undefined,
  );
}

async function server(
  folder: string,
  url: string,
  run: () => ChildProcess,
  answers: () => Promise<unknown>,
  size: () => Promise<number>,
  disconnect: () => void,
): Promise<SoakStore> {
  let child: ChildProcess;
  const start = async () => {
    const end = performance.now() + START_TIME;
    child = run();
    while (!(await Promise.race([answers(), sleep(1_000, undefined)]).catch(() => undefined))) {
      if (performance.now() > end) throw new Error(`${url} does not answer`);
      // What the killed one left may hold the port for a moment.
      if (child.exitCode !== null) child = run();
      await sleep(100);
    }
  };
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    place: () => url,
    size,
    crash: async (downFor) => {
      await kill();
      await sleep(downFor);
      await start();
    },
    remove: async () => {
      disconnect();
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
