// npm run bench:forward: what forwarding costs, beside the floor and beside what one writes by hand.
import { Child } from '../support/child.js';
import type { Cost, Report, Scenario } from './contender.process.js';
import { measureBacklog } from './backlog.bench.js';
import { measureIsolation } from './isolation.bench.js';
import { option } from '../support/option.js';
import type { ReceiverReport } from '../support/receiver.js';
import { measureScaled } from './scaled.bench.js';
import { type Goal, median, printGoals, printTable } from '../support/table.js';

const full = process.argv.includes('--full');
const only = option('only')?.split(';');
const columns = option('columns')?.split(';') ?? [
  'floor',
  'hand-written',
  'bullmq, hand-written',
  'memory',
  'sqlite',
  'redis',
  'postgres',
  'memory, axios',
  'sqlite, axios',
];

const COUNT = 20_000;
const WARM_UP = 10_000;
const ROUNDS = full ? 5 : 3;

async function runDispatch(contender: string, receiver: string): Promise<Cost> {
  const [child] = await Child.start('../forward/contender.process', contender);
  const cost = await child.ask<Cost>({ do: 'dispatch', receiver, warmUp: WARM_UP, count: COUNT });
  await child.stop();
  return cost;
}

async function runWholeWay(contender: string, receiver: string): Promise<Cost> {
  const [child] = await Child.start('../forward/contender.process', contender);
  const [load] = await Child.start('../forward/load');
  const { url } = await child.ask<Extract<Report, { url: string }>>({ do: 'serve', receiver });
  const run = async (prefix: string, count: number, delivered: number) => {
    const measured = child.ask<Cost>({ do: 'measure', delivered });
    await load.ask({ url, prefix, count });
    return measured;
  };
  await run('warm-up', WARM_UP, WARM_UP);
  const cost = await run('message', COUNT, WARM_UP + COUNT);
  await Promise.all([child.stop(), load.stop()]);
  return cost;
}

/** One run, with a receiver of its own that checks what it gets. */
async function run(scenario: Scenario, contender: string): Promise<Cost> {
  const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver');
  const cost = await (scenario === 'dispatch' ? runDispatch : runWholeWay)(contender, url);
  const report = await receiver.ask<ReceiverReport>({});
  await receiver.stop();
  if (report.messages !== WARM_UP + COUNT || report.repeated > 0 || report.badSignatures > 0) {
    throw new Error(`${contender}, ${scenario}: the receiver got ${JSON.stringify(report)}`);
  }
  return cost;
}

/** Medians of alternating rounds, so that a noisy moment hits all columns. */
async function compare(scenario: Scenario, columns: string[]): Promise<Map<string, number>> {
  const costs = new Map<string, Cost[]>(columns.map((column) => [column, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const column of columns) costs.get(column)!.push(await run(scenario, column));
  }
  const cpu = new Map([...costs].map(([column, list]) => [column, median(list.map((cost) => cost.cpu))]));
  const base = cpu.get('floor')!;
  printTable(
    `forward-${scenario.replace(' ', '-')}`,
    `${scenario}: ${COUNT} messages, medians of ${ROUNDS} rounds`,
    ['', 'CPU µs/event', 'x floor', 'events/s', 'of CPU, main thread', 'memory MB'],
    [...costs].map(([column, list]) => [
      column,
      ((cpu.get(column)! * 1_000) / COUNT).toFixed(1),
      (cpu.get(column)! / base).toFixed(2),
      (COUNT / (median(list.map(({ elapsed }) => elapsed)) / 1_000)).toFixed(0),
      `${((100 * median(list.map(({ main }) => main))) / cpu.get(column)!).toFixed(0)} %`,
      median(list.map(({ memory }) => memory)).toFixed(0),
    ]),
  );
  return new Map([...cpu].map(([column, value]) => [column, value / base]));
}

const wanted = (part: string): boolean => only === undefined || only.includes(part);
const goals: Goal[] = [];

if (wanted('dispatch')) {
  const ratios = await compare('dispatch', columns);
  goals.push({ figure: 'dispatch, memory queue, CPU x floor', value: ratios.get('memory')!, atMost: 1.4 });
}
if (wanted('whole')) {
  const ratios = await compare('whole way', columns);
  goals.push(
    { figure: 'whole way, memory queue, CPU x floor', value: ratios.get('memory')!, atMost: 1.5 },
    { figure: 'whole way, SQLite, all threads, CPU x floor', value: ratios.get('sqlite')!, atMost: 1.8 },
  );
}
if (wanted('scaled')) goals.push(...(await measureScaled(ROUNDS)));
if (wanted('isolation')) goals.push(...(await measureIsolation(full)));
if (wanted('backlog')) goals.push(...(await measureBacklog('sqlite', full)));
if (wanted('backlog, shared')) {
  goals.push(...(await measureBacklog('redis', full)), ...(await measureBacklog('postgres', full)));
}
printGoals(goals);
