// The figures of docs/performance.md. Contenders run one after the other, again and again; each figure is a median.
//   npm run bench:client            everything
//   npm run bench:client -- quick   a fifth of the runs
import { contenders } from './contenders.mjs';
import { answer, median, result, start } from './processes.mjs';

const REPEATS = process.argv.includes('quick') ? 1 : 5;
/** Events recorded between two flushes, until the code is compiled, and while CPU time is counted. */
const USUAL = { round: 1_500, warmup: 9_000, events: 30_000 };
// It stringifies its whole queue for every event: of a longer queue, each event costs more.
const SHORTER = { '@rudderstack/rudder-sdk-node': { round: 150, warmup: 1_500, events: 6_000 } };

const sink = start('sink.mjs');
const { url } = await answer(sink);

/** Runs a contender, and makes sure that every event arrived exactly once. */
async function cpu(name, batchSize, { round, warmup, events }) {
  const { perEvent } = await result('cpu.child.mjs', [name, url, batchSize, round, warmup, events]);
  sink.send('count');
  const { messages, unique } = await answer(sink);
  if (messages !== warmup + events || unique !== messages) {
    throw new Error(`${name}: ${warmup + events} recorded, ${messages} arrived, ${unique} of them different`);
  }
  return perEvent;
}

/** Medians of measurements that take turns, by name. */
async function alternating(measurements) {
  const values = Object.fromEntries(Object.keys(measurements).map((name) => [name, []]));
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const [name, measure] of Object.entries(measurements)) values[name].push(await measure());
  }
  return Object.fromEntries(Object.entries(values).map(([name, all]) => [name, median(all)]));
}

function table(title, header, rows) {
  console.log(`\n${title}\n`);
  for (const row of [header, header.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`);
}

const us = (value) => `${value.toFixed(1)} us`;
const times = (value) => value.toFixed(2);

for (const batchSize of [15, 100]) {
  const measurements = Object.keys(contenders).map((name) => [
    name,
    () => cpu(name, batchSize, SHORTER[name] ?? USUAL),
  ]);
  const figures = await alternating(Object.fromEntries(measurements));
  table(
    `CPU per event, batches of ${batchSize}`,
    ['', 'CPU', 'of the floor', 'of @segment/analytics-node'],
    Object.entries(figures).map(([name, figure]) => {
      const floor =
        figures[name.includes('keepAlive') || name.includes('node:http') ? 'floor, node:http' : 'floor, fetch'];
      return [name, us(figure), times(figure / floor), times(figure / figures['@segment/analytics-node'])];
    }),
  );
}

const heap = await result('heap.child.mjs', [], ['--expose-gc']);
table(
  `Memory per queued event, ${heap.pending} queued, no answer from the service`,
  ['JSON', 'memory', 'ratio'],
  [[`${heap.bytes} B`, `${heap.perEvent.toFixed(0)} B`, times(heap.perEvent / heap.bytes)]],
);

const bursting = [
  'floor, fetch',
  'ours, fetch',
  'floor, node:http',
  'ours, keepAliveHttpClient',
  '@segment/analytics-node',
];
const delays = await alternating(
  Object.fromEntries(bursting.map((name) => [name, async () => (await result('burst.child.mjs', [name, url])).p99])),
);
sink.send('count');
await answer(sink);
table(
  'Event-loop delay while 20,000 events are recorded and delivered',
  ['', 'p99'],
  Object.entries(delays).map(([name, p99]) => [name, `${p99.toFixed(1)} ms`]),
);

const lengths = await alternating(
  Object.fromEntries(
    [10_000, 1_000_000].map((events) => [
      events,
      () => cpu('ours, keepAliveHttpClient', 100, { ...USUAL, warmup: 60_000, events }),
    ]),
  ),
);
table(
  'CPU per event by the number of events, keepAliveHttpClient, batches of 100',
  ['events', 'CPU'],
  Object.entries(lengths).map(([events, figure]) => [events, us(figure)]),
);
sink.kill();
