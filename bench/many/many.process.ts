// A relay with many destinations, each with a source and an address of its own, which tells what they cost.
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { NestFactory } from '@nestjs/core';
import { memoryQueue, sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

import { BATCH, SECRET, trackMessage } from '../support/messages.js';
import { type SharedEngine, storeQueue } from '../forward/shared.stores.js';
import { receiverUrl } from './address.js';
import { CLIENTS, type ManyCost, type ManyOrder, type ManyStart } from './many.interface.js';

/** Longer than a connection that nobody needs is kept, in ms: the receiver asks for more than the relay grants. */
const QUIET = 11_000;

/** Nobody listens there. */
const DOWN_PORT = 1;

/** `downIn`: of so many destinations one is down. `prefix`: the place in a shared store, which the parent empties. */
const [engine, count, port, downInText, prefix] = process.argv.slice(2) as [
  'memory' | 'sqlite' | SharedEngine,
  string,
  string,
  string,
  string,
];
const downIn = Number(downInText);
const isDown = (index: number): boolean => index % downIn === downIn - 1;
const names = Array.from({ length: Number(count) }, (_, index) => `tenant-${index}`);

async function createQueue() {
  if (engine === 'memory') return memoryQueue();
  if (engine !== 'sqlite') return storeQueue(engine, prefix);
  return sqliteQueue({ path: join(await mkdtemp(join(tmpdir(), 'relay-bench-')), 'relay.db') });
}

/** The least of several samples: what finalizers hold is freed by a later collection, in a later turn. */
async function memory(): Promise<number> {
  let least = Infinity;
  for (let count = 0; count < 8; count++) {
    await sleep(25);
    globalThis.gc!();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

function countSockets(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false; // closed meanwhile
    }
  }).length;
}

const cpuSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

const queue = await createQueue();
const options = WebhookDestinationModule.forRoot({
  sources: names.map((name) => ({ name, writeKey: `wk_${name}` })),
  destinations: names.map((name, index) => ({
    name,
    sources: [name],
    urls: [receiverUrl(index, isDown(index) ? DOWN_PORT : port)],
    sharedSecret: SECRET,
  })),
  queue,
  delivery: { allowedNetworks: ['127.0.0.0/8'] },
});
class ManyModule {}
// Measuring the memory is no part of the start.
const loaded = { at: performance.now(), cpu: process.cpuUsage() };
const before = await memory();
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
const app = await NestFactory.createApplicationContext(
  { module: ManyModule, imports: [options] },
  // Each that is down says so as an error.
  { logger: downIn === Infinity ? ['error'] : ['fatal'] },
);
const application = performance.now() - startedAt;
const start: ManyStart = {
  elapsed: loaded.at + application,
  cpu: (loaded.cpu.user + loaded.cpu.system) / 1_000 + cpuSince(cpuBefore),
  application,
  memory: 0,
};
start.memory = (await memory()) - before;
const relay = app.get(WebhookDestinationService);
const socketsBefore = countSockets();
let sockets = 0;
let seen = 0;
/** Each batch that is under way, by the prefix of its ids: how many are left, and when it was handed in. */
const batches = new Map<string, { left: number; startedAt: number; end: () => void }>();
let latencies: number[] = [];
relay.events$.subscribe(({ type, destination, messageId, results }) => {
  if (type === 'retry' && isDown(Number(destination.replace('tenant-', '')))) return;
  if (type !== 'delivered') throw new Error(`a delivery was ${type}: ${JSON.stringify(results)}`);
  if (++seen % 10_000 === 0) sockets = Math.max(sockets, countSockets() - socketsBefore);
  const batch = batches.get(messageId.slice(0, messageId.lastIndexOf('-')))!;
  latencies.push(performance.now() - batch.startedAt);
  if (--batch.left === 0) batch.end();
});

/** Hands in batches, each of one source, in turn. */
async function deliver({ prefix, messages, interval }: ManyOrder): Promise<ManyCost> {
  const cpu = process.cpuUsage();
  const from = performance.now();
  const count = messages / BATCH;
  latencies = [];
  const post = async (number: number): Promise<void> => {
    const index = number % names.length;
    const id = `${prefix}-${number}`;
    const batch = Array.from({ length: BATCH }, (_, position) => trackMessage(`${id}-${position}`));
    const ended = new Promise<void>((end) => batches.set(id, { left: BATCH, startedAt: performance.now(), end }));
    await relay.accept(`wk_${names[index]}`, batch);
    if (!isDown(index)) await ended;
    batches.delete(id);
  };
  if (interval === undefined) {
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < count) await post(next++);
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  } else {
    await Promise.all(Array.from({ length: count }, (_, number) => sleep(number * interval).then(() => post(number))));
  }
  latencies.sort((a, b) => a - b);
  const p99 = latencies[Math.floor(latencies.length * 0.99)]!;
  const cost = { cpu: cpuSince(cpu), elapsed: performance.now() - from, sockets, p99 };
  // Until connections that nobody needs are closed; those to a store stay.
  for (let last = Infinity; countSockets() < last; await sleep(QUIET)) last = countSockets();
  return { ...cost, memory: (await memory()) - before };
}

process.on('disconnect', () => process.exit());
process.on('message', (order: ManyOrder) => void deliver(order).then((cost) => process.send!(cost)));
process.send!(start);
