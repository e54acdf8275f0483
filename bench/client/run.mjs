// The figures of docs/performance.md and bench/README.md. Contenders run one after the other, again and again; each figure is a median.
//   npm run bench:client                  everything, about ten minutes
//   npm run bench:client -- quick         a fifth of the runs
//   npm run bench:client -- burst quick   one part: cpu, heap, burst, turn or length
import { contenders } from './contenders.mjs';
import { recordTable } from '../support/figures.js';
import { answer, median, result, start } from './processes.mjs';

const REPEATS = process.argv.includes('quick') ? 1 : 5;
/** Events recorded between two flushes, until the code is compiled, and while CPU time is counted. */
const USUAL = { round: 1_500, warmup: 9_000, events: 30_000 };
// It stringifies its whole queue for every event: of a longer queue, each event costs more.
const SHORTER = { '@rudderstack/rudder-sdk-node': { round: 150, warmup: 1_500, events: 6_000 } };

const BURST = [
  'floor, fetch',
  'ours, fetch',
  'floor, node:http',
  'ours, keepAliveHttpClient',
  '@segment/analytics-node',
];
const LENGTHS = [10_000, 1_000_000];

const sink = start('sink.mjs');
const { url } = await answer(sink);

/** Makes sure that so many events arrived since the last count, each exactly once; resolves with the connections used. */
async function verify(name, recorded) {
  sink.send('count');
  const { messages, unique, connections } = await answer(sink);
  if (messages === recorded && unique === recorded) return connections;
  throw new Error(`${name}: ${recorded} recorded, ${messages} arrived, ${unique} of them different`);
}

async function cpu(name, batchSize, { round, warmup, events }) {
  const { perEvent } = await result('cpu.child.mjs', [name, url, batchSize, round, warmup, events]);
  await verify(name, warmup + events);
  return perEvent;
}

/** Event-loop delay while 20,000 events are recorded, so many at each turn; notes the connections that were opened. */
async function burst(name, perTurn, connections) {
  const { p99, recorded } = await result('burst.child.mjs', [name, url, perTurn]);
  connections.set(name, await verify(name, recorded));
  return p99;
}

/** Medians of a measurement of each name; the names take turns. */
async function alternating(names, measure) {
  const values = new Map(names.map((name) => [name, []]));
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const name of names) values.get(name).push(await measure(name));
  }
  return new Map(names.map((name) => [name, median(values.get(name))]));
}

async function burstTable(perTurn) {
  const connections = new Map();
  const delays = await alternating(BURST, (name) => burst(name, perTurn, connections));
  table(
    perTurn === 100 ? 'burst' : 'turn',
    `Event-loop delay while 20,000 events are recorded, ${perTurn.toLocaleString('en')} at each turn, and delivered`,
    ['', 'p99', 'more than the floor', 'connections'],
    [...delays].map(([name, p99]) => [
      name,
      `${p99.toFixed(1)} ms`,
      `${(p99 - delays.get(floorOf(name))).toFixed(1)} ms`,
      `${connections.get(name)}`,
    ]),
  );
}

function table(name, title, header, rows) {
  recordTable(`client-${name}`, title, header, rows);
  console.log(`\n${title}\n`);
  for (const row of [header, header.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`);
}

const us = (value) => `${value.toFixed(1)} µs`;
const ratio = (value) => value.toFixed(2);
const floorOf = (name) => (/keepAlive|node:http/.test(name) ? 'floor, node:http' : 'floor, fetch');

const parts = {
  async cpu() {
    for (const batchSize of [15, 100]) {
      const figures = await alternating(Object.keys(contenders), (name) =>
        cpu(name, batchSize, SHORTER[name] ?? USUAL),
      );
      const segment = figures.get('@segment/analytics-node');
      table(
        `batches-${batchSize}`,
        `CPU per event, batches of ${batchSize}`,
        ['', 'CPU', 'x floor', 'x @segment/analytics-node'],
        [...figures].map(([name, cpu]) => [
          name,
          us(cpu),
          ratio(cpu / figures.get(floorOf(name))),
          ratio(cpu / segment),
        ]),
      );
    }
  },

  async heap() {
    const { pending, bytes, perEvent } = await result('heap.child.mjs', [], ['--expose-gc']);
    table(
      'memory',
      `Memory per queued event, ${pending} queued, no answer from the service`,
      ['JSON', 'memory', 'of the JSON'],
      [[`${bytes} B`, `${perEvent.toFixed(0)} B`, ratio(perEvent / bytes)]],
    );
  },

  burst: () => burstTable(100),

  turn: () => burstTable(20_000),

  async length() {
    const names = ['floor, node:http', 'ours, keepAliveHttpClient'];
    const rows = [];
    for (const name of names) {
      const figures = await alternating(LENGTHS, (warmup) => cpu(name, 100, { ...USUAL, warmup, events: 100_000 }));
      rows.push([name, ...[...figures.values()].map(us)]);
    }
    table(
      'length',
      'CPU per event once so many were delivered, batches of 100',
      ['', ...LENGTHS.map((length) => length.toLocaleString('en'))],
      rows,
    );
  },
};

const chosen = Object.keys(parts).filter((part) => process.argv.includes(part));
for (const part of chosen.length > 0 ? chosen : Object.keys(parts)) await parts[part]();
sink.kill();
