import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Child } from '../support/child.js';
import type { ClientCost } from './client.process.js';
import { CLIENTS } from './clients.js';
import { removePrefix } from './peers/stores.js';
import type { Measured, Survival } from './row.js';
import type { SinkReport } from './sink.process.js';

/** Events in a batch, for all clients: the larger, the less an event costs. */
const BATCH = 100;

/** Events a second until the kill; the service answers 503 in the last second before it. */
const KILL_RATE = 200;
const REFUSED_AFTER = 2 * KILL_RATE;
const KILLED_AFTER = 3 * KILL_RATE;
/** How long what a killed client left in Redis is waited for, in ms. */
const WAIT = 100_000;

const startClient = async (name: string, url: string, batchSize: number, prefix: string): Promise<Child> =>
  (await Child.start('../versus/client.process', name, url, String(batchSize), prefix))[0];

const newPrefix = (): string => `bench_${randomUUID().slice(0, 8)}`;

/** Records events in rounds and flushes after each, after a warm-up. */
export async function measureClient(name: string, times: number): Promise<Measured> {
  const { round, warmUp, events } = CLIENTS[name]!;
  const count = Math.ceil((events * times) / round) * round;
  const [sink, { url }] = await Child.start<{ url: string }>('../versus/sink.process');
  const prefix = newPrefix();
  const client = await startClient(name, url, BATCH, prefix);
  await client.ask<ClientCost>({ events: warmUp, round });
  const { cpu, elapsed, memory } = await client.ask<ClientCost>({ events: count, round });
  const report = await sink.ask<SinkReport>('count');
  await Promise.all([client.stop(), sink.stop()]);
  await removePrefix(prefix);
  if (report.events !== warmUp + count || report.unique !== report.events) {
    throw new Error(`${name}: the sink got ${JSON.stringify(report)}`);
  }
  return { rate: (count * 1_000) / elapsed, cpu: (cpu * 1_000) / count, memory };
}

/** Kills a client that records at a steady rate, with its defaults; one that keeps its events is started again. */
export async function killClient(name: string): Promise<{ survival: Promise<Survival> }> {
  const { flushAt, isPersistent } = CLIENTS[name]!;
  const [sink, { url }] = await Child.start<{ url: string }>('../versus/sink.process');
  const prefix = newPrefix();
  const folder = await mkdtemp(join(tmpdir(), 'bench-versus-'));
  const file = join(folder, 'recorded');
  const recorded = () =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    );
  const client = await startClient(name, url, flushAt, prefix);
  client.tell({ rate: KILL_RATE, file });
  while ((await recorded()) < REFUSED_AFTER) await sleep(5);
  sink.tell('refuse');
  while ((await recorded()) < KILLED_AFTER) await sleep(5);
  await client.stop();
  const acknowledged = await recorded();
  sink.tell('accept');
  const settle = async (): Promise<Survival> => {
    const again = isPersistent ? await startClient(name, url, flushAt, prefix) : undefined;
    const begin = performance.now();
    let report = await sink.ask<SinkReport>('count');
    let seconds: number | undefined;
    while (performance.now() - begin < (isPersistent ? WAIT : 1_000)) {
      await sleep(250);
      report = await sink.ask<SinkReport>('count');
      if (report.unique >= acknowledged) seconds ??= (performance.now() - begin) / 1_000;
    }
    await Promise.all([sink.stop(), again?.stop()]);
    await removePrefix(prefix);
    await rm(folder, { recursive: true });
    const lost = Math.max(0, acknowledged - report.unique);
    return { acknowledged, lost, kept: 0, repeated: report.events - report.unique, seconds };
  };
  return { survival: settle() };
}
