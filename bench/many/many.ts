// npm run bench:many: what a delivery costs as the destinations become more.
import { storeCpu } from '../forward/store.cpu.js';
import { removePlace, type SharedEngine, newPrefix } from '../forward/shared.stores.js';
import { Child } from '../support/child.js';
import { BATCH } from '../support/messages.js';
import { option } from '../support/option.js';
import type { ReceiverReport } from '../support/receiver.js';
import { type Goal, median, printGoals, printTable } from '../support/table.js';
import { type ManyCost, type ManyOrder, type ManyStart, MAX_SOCKETS } from './many.interface.js';

/** Most connections of a process to a store of its own, however many destinations there are. */
const MAX_STORE_CONNECTIONS = 8;

/** Destinations of the second table, the time from one batch to the next, in ms, and of how many one is down. */
const BESIDE_DOWN = 1_000;
const PACED_MESSAGES = 60_000;
const INTERVAL = 10;
const ONE_DOWN_IN = 10;

const engines = option('engine')?.split(';') ?? ['floor', 'memory', 'sqlite', 'redis'];
const counts = option('times')?.split(';').map(Number) ?? [1, 10, 100, 1_000, 10_000];
const rounds = Number(option('rounds') ?? 3);

/** The same in each row, as the process remembers their ids. Each destination gets a batch, in the warm-up too. */
const MESSAGES = Math.max(60_000, BATCH * Math.max(...counts));

interface Row extends ManyStart {
  /** Per delivery, in us, the store's included. */
  delivery: number;
  rate: number;
  /** Once all were delivered to, and are idle, in bytes. */
  idle: number;
  sockets: number;
}

/** Whether the deliveries lie in a store of their own. */
function isShared(engine: string): engine is SharedEngine {
  return engine === 'redis' || engine === 'postgres';
}

async function start(engine: string, count: number, downIn = Infinity) {
  const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver', '0.0.0.0');
  const place = newPrefix();
  const [relay, started] = await Child.start<ManyStart>(
    engine === 'floor' ? '../many/floor.process' : '../many/many.process',
    ...[engine, String(count), new URL(url).port, String(downIn), place],
  );
  const stop = async (expected: number): Promise<void> => {
    await relay.stop();
    if (isShared(engine)) await removePlace(engine, place); // a store full of old rows would slow down the next run
    const report = await receiver.ask<ReceiverReport>({});
    await receiver.stop();
    if (report.messages === expected && report.repeated === 0 && report.badSignatures === 0) return;
    throw new Error(`${engine}, ${count} destinations: the receiver got ${JSON.stringify(report)}`);
  };
  return { run: (order: ManyOrder) => relay.ask<ManyCost>(order), started, stop };
}

async function measure(engine: string, count: number): Promise<Row> {
  const relay = await start(engine, count);
  await relay.run({ prefix: 'warm-up', messages: MESSAGES });
  const storeBefore = isShared(engine) ? storeCpu(engine) : 0;
  const { cpu, elapsed, memory, sockets } = await relay.run({ prefix: 'message', messages: MESSAGES });
  const store = isShared(engine) ? storeCpu(engine) - storeBefore : 0;
  await relay.stop(2 * MESSAGES);
  const delivery = ((cpu + store) * 1_000) / MESSAGES;
  return { ...relay.started, delivery, rate: MESSAGES / (elapsed / 1_000), idle: memory, sockets };
}

/** The 99th percentile of a healthy destination's latencies, in ms, while batches come evenly. */
async function latency(engine: string, downIn?: number): Promise<number> {
  const relay = await start(engine, BESIDE_DOWN, downIn);
  await relay.run({ prefix: 'warm-up', messages: PACED_MESSAGES, interval: INTERVAL });
  const { p99 } = await relay.run({ prefix: 'message', messages: PACED_MESSAGES, interval: INTERVAL });
  await relay.stop(2 * PACED_MESSAGES * (downIn === undefined ? 1 : 1 - 1 / downIn));
  return p99;
}

/** Medians of alternating rounds, so that a noisy moment hits all rows. */
async function compare(engine: string): Promise<Goal[]> {
  const found = new Map<number, Row[]>(counts.map((count) => [count, []]));
  for (let round = 0; round < rounds; round++) {
    for (const count of counts) found.get(count)!.push(await measure(engine, count));
  }
  const rows = new Map(
    [...found].map(([count, list]) => {
      const of = (field: keyof Row) => median(list.map((row) => row[field]));
      const start = { elapsed: of('elapsed'), application: of('application'), cpu: of('cpu'), memory: of('memory') };
      const cost = { delivery: of('delivery'), rate: of('rate'), idle: of('idle'), sockets: of('sockets') };
      return [count, { ...start, ...cost }];
    }),
  );
  const one = rows.get(counts[0]!)!;
  const idle = (field: 'memory' | 'idle', count: number) => (rows.get(count)![field] - one[field]) / 1_024 / count;
  printTable(
    `many-${engine}`,
    `${engine}, medians of ${rounds} rounds`,
    [
      'destinations',
      'CPU µs/delivery',
      'x the first',
      'deliveries/s',
      'start ms',
      'of it, modules loaded',
      'start CPU ms',
      'KB each, never used',
      'KB each, used',
      'sockets',
    ],
    counts.map((count) => {
      const row = rows.get(count)!;
      return [
        String(count),
        row.delivery.toFixed(1),
        (row.delivery / one.delivery).toFixed(2),
        row.rate.toFixed(0),
        row.elapsed.toFixed(0),
        row.application.toFixed(0),
        row.cpu.toFixed(0),
        idle('memory', count).toFixed(2),
        idle('idle', count).toFixed(2),
        String(row.sockets),
      ];
    }),
  );
  if (engine === 'floor') return [];
  const last = counts[counts.length - 1]!;
  const atMost = engine === 'memory' || engine === 'sqlite' ? 1.2 : 1.3;
  return [
    ...counts
      .filter((count) => count >= 1_000)
      .map((count) => ({
        figure: `${engine}, CPU per delivery with ${count}, x one`,
        value: rows.get(count)!.delivery / one.delivery,
        atMost,
      })),
    { figure: `${engine}, start with ${last}, x one`, value: rows.get(last)!.elapsed / one.elapsed, atMost: 1.3 },
    { figure: `${engine}, idle destination, KB`, value: idle('idle', last), atMost: 5 },
    {
      figure: `${engine}, open sockets`,
      value: Math.max(...[...rows.values()].map(({ sockets }) => sockets)),
      atMost: MAX_SOCKETS + (isShared(engine) ? MAX_STORE_CONNECTIONS : 0),
    },
  ];
}

/** What a healthy destination notices of those that are down. */
async function compareLatency(engine: string): Promise<Goal> {
  const healthy: number[] = [];
  const besideDown: number[] = [];
  for (let round = 0; round < rounds; round++) {
    healthy.push(await latency(engine));
    besideDown.push(await latency(engine, ONE_DOWN_IN));
  }
  const p99 = { healthy: median(healthy), besideDown: median(besideDown) };
  printTable(
    `many-${engine}-down`,
    `${engine}, ${BESIDE_DOWN} destinations, a batch each ${INTERVAL} ms, medians of ${rounds} rounds`,
    ['p99 ms, none down', `one down in ${ONE_DOWN_IN}`, 'x'],
    [[p99.healthy.toFixed(1), p99.besideDown.toFixed(1), (p99.besideDown / p99.healthy).toFixed(2)]],
  );
  return {
    figure: `${engine}, p99 with one down in ${ONE_DOWN_IN}, x none`,
    value: p99.besideDown / p99.healthy,
    atMost: 1.3,
  };
}

const goals: Goal[] = [];
const only = option('only');
for (const engine of engines) {
  if (only !== 'down') goals.push(...(await compare(engine)));
  if (only !== 'count' && engine !== 'floor') goals.push(await compareLatency(engine));
}
printGoals(goals);
