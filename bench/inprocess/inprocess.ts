// npm run bench:inprocess: what it costs an application to record an event and to forward it to a webhook itself, and how
// soon the event is in its SQLite file, synced.
import { Child } from '../support/child.js';
import { option } from '../support/option.js';
import { type Goal, median, printGoals, printTable } from '../support/table.js';
import type { Latencies } from './app.process.js';
import type { CostContender } from './cost.process.js';

const CONTENDERS: CostContender[] = ['floor', 'memory', 'sqlite', 'memory, HTTP', 'sqlite, HTTP'];

/** Most CPU per event from `track()` to the signed POST, as a multiple of the floor. */
const COST_GOALS: Partial<Record<CostContender, number>> = { memory: 1.3, sqlite: 1.6 };
const WARM_UP = 6_000;
const EVENTS = 15_000;

const ROUNDS = Number(option('rounds') ?? 3);
const RATE = 1_000;
const SECONDS = 10;

/** CPU per event of each contender in each round, in us. */
async function costs(): Promise<Map<CostContender, number[]>> {
  const cpu = new Map<CostContender, number[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of CONTENDERS) {
      const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver');
      const [process] = await Child.start('../inprocess/cost.process', contender, url);
      await process.ask({ count: WARM_UP });
      const answer = await process.ask<{ cpu: number }>({ count: EVENTS });
      cpu.set(contender, [...(cpu.get(contender) ?? []), answer.cpu]);
      await Promise.all([process.stop(), receiver.stop()]);
    }
  }
  return cpu;
}

const cpu = await costs();
const floors = cpu.get('floor')!;
const goals: Goal[] = [];
const costRows = [...cpu].map(([contender, values]) => {
  const ratio = median(values.map((value, round) => value / floors[round]!));
  const atMost = COST_GOALS[contender];
  if (atMost !== undefined) goals.push({ figure: `CPU x floor, ${contender}`, value: ratio, atMost });
  return [contender, median(values).toFixed(1), ratio.toFixed(2)];
});
printTable(
  'inprocess-cost',
  '30 events a turn, from track() to the answered webhook',
  ['', 'CPU µs/event', 'x floor'],
  costRows,
);

/** Longest time to the file for 99 of 100 events, in ms. */
const GOAL = 50;

/** Settings that are compared: the default, and intervals that make larger batches. */
const INTERVALS = [undefined, 5, 20];

const at = (sorted: number[], share: number): number => sorted[Math.floor((sorted.length - 1) * share)]!;

const rows: string[][] = [];
let worst = 0;
for (let round = 0; round < (option('only') === 'cost' ? 0 : ROUNDS); round++) {
  for (const interval of INTERVALS) {
    const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver');
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
  'inprocess-file',
  `${RATE} events a second, each in a turn of its own: ms from track() to the synced file`,
  ['', 'p50, ms', 'p99, ms', 'max, ms', 'sync of 1 KB, p50', 'sync, p99', 'CPU µs/event'],
  rows,
);
goals.push({ figure: 'ms from track() to the file, p99, worst round', value: worst, atMost: GOAL });
printGoals(goals);
