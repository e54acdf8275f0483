import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import type { SoakEngine } from './soak.plan.js';

/** Where the queue of a soak lies: a file, or a Redis of its own. */
export interface SoakStore {
  /** The file, or the URL. */
  place: string;
  /** Bytes that it takes: the file and its log, or Redis' memory. */
  size(): Promise<number>;
  remove(): Promise<void>;
}

export async function startStore(engine: SoakEngine): Promise<SoakStore> {
  const folder = await mkdtemp(join(tmpdir(), 'relay-soak-'));
  return engine === 'sqlite' ? sqliteFile(folder) : ownRedis(folder);
}

function sqliteFile(folder: string): SoakStore {
  const place = join(folder, 'relay.db');
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    place,
    size: () => Promise.resolve(sizeOf(place) + sizeOf(`${place}-wal`)),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** With an append-only file, as production has it. */
async function ownRedis(folder: string): Promise<SoakStore> {
  const port = await freePort();
  const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes'];
  const server = spawn('redis-server', settings, { stdio: 'ignore' });
  const place = `redis://127.0.0.1:${port}`;
  const client = new Redis(place, { retryStrategy: () => 100, maxRetriesPerRequest: null });
  client.on('error', () => undefined); // until it listens
  await Promise.race([
    client.ping(),
    once(server, 'error').then(([error]) => Promise.reject(error as Error)),
    sleep(10_000, undefined, { ref: false }).then(() => Promise.reject(new Error('redis-server does not answer'))),
  ]);
  return {
    place,
    size: async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))![1]),
    remove: async () => {
      client.disconnect();
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
