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

import { option } from '../support/option.js';
import { printTable } from '../support/table.js';

interface Table {
  head: string[];
  rows: string[][];
}

interface Store {
  name: string;
  /** Its name in the bench of processes that share it. */
  engine: string;
  cores: number;
  /** Space of a queued delivery, in KB, and of a remembered id, in bytes: docs/scaling.md. */
  queued: number;
  id: number;
}

/** CPU time for an event, in us. */
interface Cost {
  cpu: number;
  store: number;
}

function number(name: Parameters<typeof option>[0], fallback: number): number {
  const value = Number(option(name) ?? fallback);
  if (!(value > 0)) throw new RangeError(`--${name} must be a number above 0`);
  return value;
}

const rate = number('rate', 100_000);
const load = number('load', 0.5);
const postgresCores = number('postgres-cores', 8);
const response = number('response', 50);
const inFlight = number('in-flight', 64);
const scale = number('scale', 1);
if (load >= 1) throw new RangeError('--load must be below 1: at full load, a queue only grows');

const figures = JSON.parse(readFileSync('bench/figures.json', 'utf8')) as Record<string, Table>;

/** A number in a table of bench/figures.json. */
function figure(table: string, isRow: (row: string[]) => boolean, column: string): number {
  const { head, rows } = figures[table] ?? { head: [], rows: [] };
  const value = Number(rows.find(isRow)?.[head.indexOf(column)]);
  if (!(value > 0)) throw new Error(`bench/figures.json has no ${table} / ${column}: run its bench with --record`);
  return value;
}

/** CPU of a way from HTTP to the answered webhook, in one process that accepts and delivers, in us. */
function measured(way: string): Cost {
  const of = (column: string) => figure('versus', ([name]) => name === `**this package, ${way}**`, column) * scale;
  return { cpu: of('CPU µs each'), store: way === 'SQLite' ? 0 : of('store, CPU µs each') };
}

/** How much more a delivery costs if so many processes share the store: of more than four, as of four. */
function contention(engine: string, processes: number, column: string): number {
  const of = (count: number) =>
    figure('forward-scaled', ([name, measured]) => name === engine && measured === String(count), column);
  const known = processes >= 4 ? 4 : processes >= 2 ? 2 : 1;
  return Math.max(1, of(known) / of(1));
}

const STORES: Store[] = [
  { name: 'Redis', engine: 'redis', cores: 1, queued: 2, id: 100 },
  { name: 'PostgreSQL', engine: 'postgres', cores: postgresCores, queued: 3, id: 150 },
];

/** CPU for an event where so many processes share a store, in us. */
function shared({ name, engine }: Store, processes: number): Cost {
  const { cpu, store } = measured(name);
  return {
    cpu: cpu * contention(engine, processes, 'CPU µs/event'),
    store: store * contention(engine, processes, 'CPU of the store, µs/event'),
  };
}

const MICROSECONDS = 1_000_000;
const round = (value: number) => String(Number(value.toPrecision(2)));
const capacity = (cpu: number, cores: number) => (cores * MICROSECONDS) / cpu;
const receivers = (processes: number) => (processes * inFlight * 1_000) / response;

printTable(
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
const gigabytes = (kilobytes: number) => `${round(kilobytes / 1_000_000)} GB`;
printTable(
  'plan-rate',
  `calculated: ${rate.toLocaleString('en')} events a second at a load of ${load}`,
  ['', 'processes', 'stores', 'their cores', 'cores in all', 'a backlog of an hour', 'ids of a day'],
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
        `relays with ${store.name}, each with its sources and processes`,
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

printTable(
  'plan-load',
  'calculated: what a load means for the time in a queue of one server (M/M/1), and after an outage of 10 minutes',
  ['load', 'time in the queue, x the time of the work alone', 'minutes until the backlog is gone'],
  [0.3, 0.5, 0.7, 0.8, 0.9].map((part) => [
    String(part),
    (1 / (1 - part)).toFixed(1),
    ((10 * part) / (1 - part)).toFixed(0),
  ]),
);
