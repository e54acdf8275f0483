// npm run bench:telemetry: what tracing costs an event. Relays with and without it lie in one process, so that they share
// its compiled code and its heap, and take turns in short bursts.
import { Child } from '../support/child.js';
import { option } from '../support/option.js';
import { type Goal, median, printGoals, printTable } from '../support/table.js';
import { type Burst, type Engine, SAMPLINGS, type Way } from './traced.interface.js';

const ROUNDS = Number(option('rounds') ?? 40);
const BURST = 1_500;
const WARM_UP = 10_000;

/** Most CPU with tracing at a sampling of 1 %, beside none. */
const GOAL = 1.03;

const WAYS: Way[] = ['in process', 'over HTTP'];
const ENGINES: Engine[] = ['memory', 'sqlite'];

interface Cost {
  /** Without tracing, in us of CPU an event. */
  without: number;
  /** Of each sampling, as a multiple of that. */
  ratios: number[];
}

async function measure(way: Way, engine: Engine): Promise<Cost> {
  const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver');
  const [relays, urls] = await Child.start<(string | undefined)[]>('../telemetry/traced.process', way, engine, url);
  const [load] = await Child.start('../forward/load');
  let sent = 0;
  const burst = async (index: number, count: number) => {
    const answer = relays.ask<number>({ index, count } satisfies Burst);
    if (urls[index]) await load.ask({ url: urls[index], prefix: `${sent++}`, count });
    return answer;
  };
  for (const index of SAMPLINGS.keys()) await burst(index, WARM_UP);
  const without: number[] = [];
  const ratios: number[] = [];
  // One sampling after the other: a burst also collects the garbage of the burst before it.
  for (let index = 1; index < SAMPLINGS.length; index++) {
    const found: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const cpu = new Map<number, number>();
      for (const turn of round % 2 === 0 ? [0, index] : [index, 0]) cpu.set(turn, await burst(turn, BURST));
      without.push(cpu.get(0)!);
      found.push(cpu.get(index)! / cpu.get(0)!);
    }
    ratios.push(median(found));
  }
  await Promise.all([relays.stop(), load.stop(), receiver.stop()]);
  return { without: median(without), ratios };
}

const goals: Goal[] = [];
const rows: string[][] = [];
for (const way of WAYS) {
  for (const engine of ENGINES) {
    const { without, ratios } = await measure(way, engine);
    rows.push([`${way}, ${engine}`, without.toFixed(1), ...ratios.map((ratio) => ratio.toFixed(3))]);
    goals.push({ figure: `${way}, ${engine}: sampling 1 %, CPU x none`, value: ratios[0]!, atMost: GOAL });
  }
}
printTable(
  `medians of ${ROUNDS} rounds of bursts of ${BURST} events`,
  ['', 'CPU us/event without', 'sampling 1 %, x', 'sampling 100 %, x'],
  rows,
);
printGoals(goals);
