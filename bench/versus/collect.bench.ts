import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Child } from '../support/child.js';
import type { ClientCost } from './client.process.js';
import { CLIENTS } from './clients.js';
import type { Survival } from './figures.js';
import type { Measured } from './forward.bench.js';
import { removePrefix } from './peers/stores.js';

export { CLIENTS };

/** Events in a batch, for all clients: the larger, the less an event costs. */
const BATCH = 100;

/** Events a second until the kill; the service stops answering a second before it. */
const KILL_RATE = 200;
const STALLED_AFTER = 2 * KILL_RATE;
const KILLED_AFTER = 3 * KILL_RATE;
/** Longest wait for what a killed client left in Redis, in ms. */
const WAIT = 100_000;

interface Count {
  messages: number;
  unique: number;
}

const startClient = async (name: string, url: string, batchSize: number, prefix: string): Promise<Child> =>
  (await Child.start('../versus/client.process', name, url, String(batchSize), prefix))[0];

const newPrefix = (): string => `bench_${randomUUID().slice(0, 8)}`;

/** Records events in rounds and flushes after each, after a warm-up. */
export async function measureClient(name: string, times: number): Promise<Measured> {
  const { round, warmUp, events } = CLIENTS[name]!;
  const count = Math.ceil((events * times) / round) * round;
  const [sink, { url }] = await Child.start<{ url: string }>('../client/sink');
  const prefix = newPrefix();
  const client = await startClient(name, url, BATCH, prefix);
  await client.ask<ClientCost>({ events: warmUp, round });
  const { cpu, elapsed, memory } = await client.ask<ClientCost>({ events: count, round });
  const { messages, unique } = await sink.ask<Count>('count');
  await Promise.all([client.stop(), sink.stop()]);
  await removePrefix(prefix);
  if (messages !== warmUp + count || unique !== messages) throw new Error(`${name}: ${messages}, ${unique} unique`);
  return { rate: (count * 1_000) / elapsed, cpu: (cpu * 1_000) / count, memory };
}

/** Kills a client that records at a steady rate, with its defaults; one that keeps its events is started again. */
export async function killClient(name: string): Promise<{ survival: Promise<Survival> }> {
  const { flushAt, isPersistent } = CLIENTS[name]!;
  const [sink, { url }] = await Child.start<{ url: string }>('../client/sink');
  const prefix = newPrefix();
  const folder = await mkdtemp(join(tmpdir(), 'bench-versus-'));
  const file = join(folder, 'recorded');
  const recorded = () => stat(file).then(
    ({ size }) => size,
    () => 0,
  );
  const client = await startClient(name, url, flushAt, prefix);
  client.tell({ rate: KILL_RATE, file });
  while ((await recorded()) < STALLED_AFTER) await sleep(5);
  sink.signal('SIGSTOP');
  while ((await recorded()) < KILLED_AFTER) await sleep(5);
  await client.stop();
  const acknowledged = await recorded();
  sink.signal('SIGCONT');
  const settle = async (): Promise<Survival> => {
    const begin = performance.now();
    // What the system had taken over from the killed process still arrives.
    await sleep(2_000);
    let { messages, unique } = await sink.ask<Count>('count');
    const again = isPersistent ? await startClient(name, url, flushAt, prefix) : undefined;
    const wait = isPersistent ? WAIT : 0;
    while (unique < acknowledged && performance.now() - begin < wait) {
      await sleep(250);
      const more = await sink.ask<Count>('count');
      messages += more.messages;
      unique += more.unique;
    }
    await Promise.all([sink.stop(), again?.stop()]);
    await removePrefix(prefix);
    await rm(folder, { recursive: true });
    const lost = acknowledged - unique;
    return { acknowledged, lost, kept: 0, repeated: messages - unique };
  };
  return { survival: settle() };
}
