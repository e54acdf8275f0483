// npm run bench:telemetry: what tracing costs an event. Relays with and without it lie in one process, so that they share
// its compiled code and its heap, and take turns in short bursts.
import { Child } from '../support/child.js';
import { option } from '../support/option.js';
import { type Goal, median, printGoals, printTable } from '../support/table.js';
import { type Burst, type Engine, TRACINGS, type Tracing, type Way } from './traced.interface.js';

const ROUNDS = Number(option('rounds') ?? 40);
const BURST = 1_500;
const WARM_UP = 10_000;

/** Most CPU with tracing at a sampling of 1 %, beside none. */
const GOAL = 1.03;

const WAYS: Way[] = ['in process', 'over HTTP'];
const ENGINES: Engine[] = ['memory', 'sqlite'];

/** Relays that take turns. Full tracing has rounds of its own: a burst also collects the garbage of the one before. */
const GROUPS: Tracing[][] = [
  ['none', 'figures', 'a span', '1 %'],
  ['none', '100 %'],
];

interface Cost {
  /** Without tracing, in us of CPU an event. */
  without: number;
  /** Of each tracing, as a multiple of that. */
  ratios: Map<Tracing, number>;
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
  for (const index of TRACINGS.keys()) await burst(index, WARM_UP);
  const without: number[] = [];
  const ratios = new Map<Tracing, number>();
  for (const group of GROUPS) {
    const rounds: Map<Tracing, number>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const cpu = new Map<Tracing, number>();
      for (const turn of group.keys()) {
        const tracing = group[(turn + round) % group.length]!;
        cpu.set(tracing, await burst(TRACINGS.indexOf(tracing), BURST));
      }
      rounds.push(cpu);
    }
    without.push(...rounds.map((cpu) => cpu.get('none')!));
    for (const tracing of group) {
      ratios.set(tracing, median(rounds.map((cpu) => cpu.get(tracing)! / cpu.get('none')!)));
    }
  }
  await Promise.all([relays.stop(), load.stop(), receiver.stop()]);
  return { without: median(without), ratios };
}

const goals: Goal[] = [];
const rows: string[][] = [];
for (const way of WAYS) {
  for (const engine of ENGINES) {
    const { without, ratios } = await measure(way, engine);
    const shown = TRACINGS.slice(1);
    rows.push([`${way}, ${engine}`, without.toFixed(1), ...shown.map((tracing) => ratios.get(tracing)!.toFixed(3))]);
    goals.push({ figure: `${way}, ${engine}: sampling 1 %, CPU x none`, value: ratios.get('1 %')!, atMost: GOAL });
  }
}
printTable(
  'telemetry',
  `medians of ${ROUNDS} rounds of bursts of ${BURST} events`,
  ['', 'CPU µs/event without', ...TRACINGS.slice(1).map((tracing) => `${tracing}, x`)],
  rows,
);
printGoals(goals);
