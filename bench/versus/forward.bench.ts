import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { storeCpu } from '../forward/store.cpu.js';
import { Child } from '../support/child.js';
import type { ReceiverReport } from '../support/receiver.js';
import type { PeerCost } from './peer.process.js';
import { PEERS } from './peers/index.js';
import type { Place } from './peers/peer.js';
import { removePrefix } from './peers/stores.js';
import type { Measured, Survival } from './row.js';

/** Messages posted in a run that ends with a kill, and how many have been delivered when it comes. */
const KILL_COUNT = 6_000;
const KILL_AFTER = 1_500;
/** Events a second that an application records itself until it is killed. */
const KILL_RATE = 1_000;
/** How long what a killed process held is waited for, in ms: longer than every documented time to find it, but one. */
const WAIT = 100_000;

interface Run {
  place: Place;
  receiver: Child;
  report(ids?: boolean): Promise<ReceiverReport>;
  reached(messages: number): Promise<void>;
  start(): Promise<{ child: Child; load?: Child; url?: string }>;
  close(...children: (Child | undefined)[]): Promise<void>;
}

async function createRun(name: string): Promise<Run> {
  const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver');
  const prefix = `bench_${randomUUID().slice(0, 8)}`;
  const place = { receiver: url, prefix, folder: await mkdtemp(join(tmpdir(), 'bench-versus-')) };
  const report = (ids = false) => receiver.ask<ReceiverReport>({ ids });
  return {
    place,
    receiver,
    report,
    async reached(messages) {
      while ((await report()).messages < messages) await sleep(10);
    },
    async start() {
      const [child, { url }] = await Child.start<{ url?: string }>(
        '../versus/peer.process',
        name,
        JSON.stringify(place),
      );
      const load = url === undefined ? undefined : (await Child.start('../versus/load.process'))[0];
      return { child, load, url };
    },
    async close(...children) {
      await Promise.all([receiver, ...children].map((child) => child?.stop()));
      await rm(place.folder, { recursive: true });
      await removePrefix(prefix);
    },
  };
}

/** Forwards messages as fast as they can be posted or recorded, after a warm-up. */
export async function measurePeer(name: string, warmUp: number, count: number): Promise<Measured> {
  const run = await createRun(name);
  const { child, load, url } = await run.start();
  const feed = async (prefix: string, messages: number) => {
    await load?.ask({ url, prefix, count: messages });
    return () => {
      if (load) void load.ask('post');
      else child.tell({ do: 'record', prefix, count: messages });
    };
  };
  (await feed('warm-up', warmUp))();
  await run.reached(warmUp);
  const post = await feed('message', count);
  const { store } = PEERS[name]!;
  const storeBefore = store ? storeCpu(store) : 0;
  child.tell({ do: 'measure' });
  const begin = performance.now();
  post();
  await run.reached(warmUp + count);
  const elapsed = performance.now() - begin;
  const { cpu, memory } = await child.ask<PeerCost>({ do: 'cost' });
  const storeTime = store ? ((storeCpu(store) - storeBefore) * 1_000) / count : undefined;
  const report = await run.report();
  await run.close(child, load);
  if (report.messages !== warmUp + count || report.repeated > 0 || report.badSignatures > 0) {
    throw new Error(`${name}: the receiver got ${JSON.stringify(report)}`);
  }
  return { rate: (count * 1_000) / elapsed, cpu: (cpu * 1_000) / count, store: storeTime, memory };
}

/** Kills an application while it forwards, and starts it again; the promise within resolves once all are delivered. */
export async function killPeer(name: string): Promise<{ survival: Promise<Survival> }> {
  const run = await createRun(name);
  const { child, load, url } = await run.start();
  let acknowledged: Promise<string[] | number>;
  if (load) {
    await load.ask({ url, prefix: 'message', count: KILL_COUNT });
    const posted = load.ask<string[]>('post');
    await run.reached(KILL_AFTER);
    await child.stop();
    acknowledged = posted;
  } else {
    child.tell({ do: 'record', prefix: 'message', count: KILL_COUNT, rate: KILL_RATE });
    await run.reached(KILL_AFTER);
    await child.stop();
    acknowledged = stat(join(run.place.folder, 'recorded')).then(({ size }) => size);
  }
  const messages = await acknowledged;
  await load?.stop();
  const again = await run.start();
  return { survival: settle(name, run, again, messages) };
}

async function settle(
  name: string,
  run: Run,
  { child, load }: { child: Child; load?: Child },
  messages: string[] | number,
): Promise<Survival> {
  const begin = performance.now();
  const missing = async () => {
    const { ids, repeated } = await run.report(true);
    if (typeof messages === 'number') return { count: messages - ids!.length, repeated };
    const arrived = new Set(ids);
    return { count: messages.filter((id) => !arrived.has(id)).length, repeated };
  };
  let state = await missing();
  let seconds: number | undefined;
  // To the end, because jobs that were under way may be repeated once all have been delivered.
  while (performance.now() - begin < WAIT) {
    if (state.count === 0) seconds ??= (performance.now() - begin) / 1_000;
    await sleep(250);
    state = await missing();
  }
  const kept = seconds === undefined ? ((await PEERS[name]!.peer.left?.(run.place)) ?? 0) : 0;
  await run.close(child, load);
  const acknowledged = typeof messages === 'number' ? messages : messages.length;
  return { acknowledged, lost: Math.max(0, state.count - kept), kept, repeated: state.repeated, seconds };
}
