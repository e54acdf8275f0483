// npm run bench:inprocess: how soon an event that an application records for itself is in its SQLite file, synced.
import { Child } from '../forward/child.js';
import { option } from '../forward/option.js';
import { printGoals, printTable } from '../forward/table.js';
import type { Latencies } from './app.process.js';

const ROUNDS = Number(option('rounds') ?? 3);
const RATE = 1_000;
const SECONDS = 10;

/** Longest time to the file for 99 of 100 events, in ms. */
const GOAL = 50;

/** Settings that are compared: the default, and intervals that make larger batches. */
const INTERVALS = [undefined, 5, 20];

const at = (sorted: number[], share: number): number => sorted[Math.floor((sorted.length - 1) * share)]!;

const rows: string[][] = [];
let worst = 0;
for (let round = 0; round < ROUNDS; round++) {
  for (const interval of INTERVALS) {
    const [receiver, { url }] = await Child.start<{ url: string }>('../forward/receiver');
    const [app] = await Child.start(
      '../inprocess/app.process',
      url,
      ...(interval === undefined ? [] : [`${interval}`]),
    );
    const { durable, synced, cpu } = await app.ask<Latencies>({ rate: RATE, seconds: SECONDS });
    await Promise.all([app.stop(), receiver.stop()]);
    if (interval === undefined) worst = Math.max(worst, at(durable, 0.99));
    rows.push([
      interval === undefined ? 'default' : `flushInterval: ${interval}`,
      ...[at(durable, 0.5), at(durable, 0.99), at(durable, 1), at(synced, 0.5), at(synced, 0.99), cpu].map((value) =>
        value.toFixed(1),
      ),
    ]);
  }
}
printTable(
  `${RATE} events a second, each in a turn of its own: ms from track() to the synced file`,
  ['', 'p50', 'p99', 'max', 'sync of 1 KB, p50', 'p99', 'CPU us/event'],
  rows,
);
printGoals([{ figure: 'ms from track() to the file, p99, worst round', value: worst, atMost: GOAL }]);
