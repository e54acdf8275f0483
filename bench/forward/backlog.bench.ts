import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { DrainCost, FillCost } from './backlog.process.js';
import { Child } from '../support/child.js';
import { removePlace, newPrefix } from './shared.stores.js';
import { type Goal, median, printTable } from '../support/table.js';

const FEW = 10_000;

/** Most deliveries that are queued, with `--full` and without. */
const SIZES = {
  sqlite: { name: 'SQLite', full: 1_000_000, short: 100_000 },
  redis: { name: 'Redis', full: 500_000, short: 100_000 },
  postgres: { name: 'PostgreSQL', full: 500_000, short: 50_000 },
};

type Engine = keyof typeof SIZES;

/** The place of a queue, and how to empty it. */
interface Place {
  place: string;
  remove: () => Promise<unknown>;
}

async function createPlace(engine: Engine): Promise<Place> {
  if (engine === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'relay-bench-'));
    return { place: join(folder, 'relay.db'), remove: () => rm(folder, { recursive: true }) };
  }
  const place = newPrefix();
  return { place, remove: () => removePlace(engine, place) };
}

interface Measured {
  filling: FillCost;
  draining: DrainCost;
}

/** What it costs to put so many into a place, and then to drain a part of them; each round has a place to warm up in. */
async function measureOnce(engine: Engine, { place }: Place, added: number): Promise<Measured> {
  const warmUp = await createPlace(engine);
  const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver');
  const run = async <T>(task: 'fill' | 'drain'): Promise<T> => {
    const [child, cost] = await Child.start<T>(
      '../forward/backlog.process',
      task,
      engine,
      url,
      warmUp.place,
      place,
      String(added),
    );
    await child.stop();
    return cost;
  };
  const filling = await run<FillCost>('fill');
  const draining = await run<DrainCost>('drain');
  await receiver.stop();
  await warmUp.remove();
  return { filling, draining };
}

/** What a delivery costs with few and with many in the queue, in alternating rounds, and the memory that many take. */
export async function measureBacklog(engine: Engine, full: boolean): Promise<Goal[]> {
  const { name, full: most, short } = SIZES[engine];
  const size = full ? most : short;
  const rounds = full ? 5 : 3;
  const many = await createPlace(engine);
  const runs: Record<'few' | 'many', Measured[]> = { few: [], many: [] };
  for (let round = 0; round < rounds; round++) {
    const few = await createPlace(engine);
    runs.few.push(await measureOnce(engine, few, FEW));
    await few.remove();
    // Filled once: a round takes a small part of it.
    runs.many.push(await measureOnce(engine, many, round === 0 ? size : 0));
  }
  await many.remove();
  const of = (list: Measured[], figure: keyof DrainCost) => median(list.map(({ draining }) => draining[figure]));
  printTable(
    `forward-backlog-${engine}`,
    `${name} queue with a backlog, filled by one process and drained by others, CPU of all threads and of the store, ` +
      `medians of ${rounds} rounds`,
    ['queued', 'CPU µs/delivery', 'time, µs', 'CPU to add, µs', 'start ms', 'memory filling MB', 'draining MB'],
    [runs.few, runs.many].map((list, index) => [
      [FEW, size][index]!.toLocaleString('en'),
      of(list, 'cpu').toFixed(1),
      of(list, 'elapsed').toFixed(0),
      list[0]!.filling.add.toFixed(1),
      of(list, 'start').toFixed(0),
      list[0]!.filling.memory.toFixed(0),
      of(list, 'memory').toFixed(0),
    ]),
  );
  const title = `${name} with ${size.toLocaleString('en')} queued`;
  const memories = runs.many.flatMap(({ filling, draining }) => [filling.memory, draining.memory]);
  return [
    {
      figure: `cost per delivery, ${title}, x 10,000 queued`,
      value: of(runs.many, 'cpu') / of(runs.few, 'cpu'),
      atMost: 1.15,
    },
    { figure: `memory, ${title}, MB`, value: Math.max(...memories), atMost: 300 },
  ];
}
