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

/** CPU of each sampling's bursts, in us an event. */
async function measure(way: Way, engine: Engine): Promise<number[][]> {
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
  const cpu: number[][] = SAMPLINGS.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    const order = [...SAMPLINGS.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order) cpu[index]!.push(await burst(index, BURST));
  }
  await Promise.all([relays.stop(), load.stop(), receiver.stop()]);
  return cpu;
}

const goals: Goal[] = [];
const rows: string[][] = [];
for (const way of WAYS) {
  for (const engine of ENGINES) {
    const cpu = await measure(way, engine);
    const ratios = cpu.map((bursts) => median(bursts.map((value, round) => value / cpu[0]![round]!)));
    rows.push([`${way}, ${engine}`, median(cpu[0]!).toFixed(1), ...ratios.slice(1).map((ratio) => ratio.toFixed(3))]);
    goals.push({ figure: `${way}, ${engine}: sampling 1 %, CPU x none`, value: ratios[1]!, atMost: GOAL });
  }
}
printTable(
  `medians of ${ROUNDS} rounds of bursts of ${BURST} events`,
  ['', 'CPU us/event without', 'sampling 1 %, x', 'sampling 100 %, x'],
  rows,
);
printGoals(goals);
