// npm run bench:plan: how far one store goes, and what a number of events a second takes, calculated from the CPU times
// that bench:versus and bench:forward have measured (bench/figures.json). Nothing is run. Options, with their defaults:
//   --rate=100000        events a second, each for one destination
//   --load=0.5           part of the CPU time that is used in the busiest second planned for
//   --postgres-cores=8   cores of one PostgreSQL; a Redis works on one
//   --response=50        time in which receivers answer, in ms
//   --in-flight=64       deliveries in flight in one process: the sum of `concurrency` over the busy destinations
//   --scale=1            your machine's CPU time for the same work, as a multiple of the measured
//   --record             also writes the tables into bench/figures.json
import { readFileSync } from 'node:fs';

import { recordTable } from '../support/figures.mjs';

function option(name, fallback) {
  const start = `--${name}=`;
  const text = process.argv.find((argument) => argument.startsWith(start))?.slice(start.length);
  const value = text === undefined ? fallback : Number(text);
  if (!(value > 0)) throw new RangeError(`--${name} must be a number above 0`);
  return value;
}

const rate = option('rate', 100_000);
const load = option('load', 0.5);
const postgresCores = option('postgres-cores', 8);
const response = option('response', 50);
const inFlight = option('in-flight', 64);
const scale = option('scale', 1);
if (load >= 1) throw new RangeError('--load must be below 1: at full load, a queue only grows');

const figures = JSON.parse(readFileSync('bench/figures.json', 'utf8'));

/** A number in a table of bench/figures.json. */
function figure(table, isRow, column) {
  const { head, rows } = figures[table];
  const value = Number(rows.find(isRow)?.[head.indexOf(column)]);
  if (!(value > 0)) throw new Error(`bench/figures.json has no ${table} / ${column}: run its bench with --record`);
  return value;
}

/** CPU of a way from HTTP to the answered webhook, in one process that accepts and delivers, in us. */
function measured(way) {
  const of = (column) => figure('versus', ([name]) => name === `**this package, ${way}**`, column) * scale;
  return { cpu: of('CPU µs each'), store: way === 'SQLite' ? 0 : of('store, CPU µs each') };
}

/** How much more a delivery costs if so many processes share the store: of more than four, as of four. */
function contention(engine, processes, column) {
  const of = (count) =>
    figure('forward-scaled', ([name, number]) => name === engine && number === String(count), column);
  const known = processes >= 4 ? 4 : processes >= 2 ? 2 : 1;
  return Math.max(1, of(known) / of(1));
}

const STORES = [
  { name: 'Redis', engine: 'redis', cores: 1, queued: 2, id: 100 },
  { name: 'PostgreSQL', engine: 'postgres', cores: postgresCores, queued: 3, id: 150 },
];

/** CPU for an event where so many processes share a store, in us. */
function shared({ name, engine }, processes) {
  const { cpu, store } = measured(name);
  return {
    cpu: cpu * contention(engine, processes, 'CPU µs/event'),
    store: store * contention(engine, processes, 'CPU of the store, µs/event'),
  };
}

const MICROSECONDS = 1_000_000;
const round = (value) => String(Number(value.toPrecision(2)));
const capacity = (cpu, cores) => (cores * MICROSECONDS) / cpu;
const receivers = (processes) => (processes * inFlight * 1_000) / response;

function print(name, title, head, rows) {
  recordTable(name, title, head, rows);
  const line = (cells) => `| ${cells.join(' | ')} |`;
  console.log(['', title, '', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n'));
}

print(
  'plan-processes',
  `calculated: events a second at a load of ${load}, a core for each process, ${postgresCores} cores for PostgreSQL, ` +
    `receivers that answer in ${response} ms, ${inFlight} deliveries in flight in a process`,
  ['store', 'processes', 'CPU of the processes allows', 'the store allows', 'receivers allow', 'least of them'],
  STORES.flatMap((store) =>
    [1, 4, 16].map((processes) => {
      const { cpu, store: storeCpu } = shared(store, processes);
      const limits = [load * capacity(cpu, processes), load * capacity(storeCpu, store.cores), receivers(processes)];
      return [store.name, String(processes), ...limits.map(round), round(Math.min(...limits))];
    }),
  ),
);

const alone = measured('SQLite');
const HOUR = 3_600;
const DAY = 24 * HOUR;
const gigabytes = (kilobytes) => `${round(kilobytes / 1_000_000)} GB`;
print(
  'plan-rate',
  `calculated: ${rate.toLocaleString('en')} events a second at a load of ${load}`,
  ['', 'relays or processes', 'stores', 'their cores', 'cores in all', 'a backlog of an hour', 'ids of a day'],
  [
    [
      'relays with SQLite, each with its sources',
      ...[Math.ceil(rate / (load * capacity(alone.cpu, 1))), 0, 0].map(String),
      round((rate * alone.cpu) / MICROSECONDS / load),
      gigabytes(rate * HOUR * 1.15),
      'at most 1,000,000 ids each',
    ],
    ...STORES.map((store) => {
      const { cpu, store: storeCpu } = shared(store, 4);
      const processCores = (rate * cpu) / MICROSECONDS / load;
      const stores = Math.ceil(rate / (load * capacity(storeCpu, store.cores)));
      return [
        `${store.name}, its sources and four processes or more to each`,
        String(Math.ceil(processCores)),
        String(stores),
        String(stores * store.cores),
        round(processCores + stores * store.cores),
        gigabytes(rate * HOUR * store.queued),
        gigabytes((rate * DAY * store.id) / 1_000),
      ];
    }),
  ],
);

print(
  'plan-load',
  'calculated: what a load means for the time in a queue of one server (M/M/1), and after an outage of 10 minutes',
  ['load', 'time in the queue, x the time of the work alone', 'minutes until the backlog is gone'],
  [0.3, 0.5, 0.7, 0.8, 0.9].map((part) => [
    String(part),
    (1 / (1 - part)).toFixed(1),
    ((10 * part) / (1 - part)).toFixed(0),
  ]),
);
