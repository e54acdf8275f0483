import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { DrainCost, FillCost } from './backlog.process.js';
import { Child } from './child.js';
import { removePlace, sharedOptions } from './shared.stores.js';
import { type Goal, printTable } from './table.js';

const FEW = 10_000;

/** Most deliveries that are queued, with `--full` and without. */
const SIZES = {
  sqlite: { name: 'SQLite', full: 1_000_000, short: 100_000 },
  redis: { name: 'Redis', full: 500_000, short: 100_000 },
  postgres: { name: 'PostgreSQL', full: 500_000, short: 50_000 },
};

type Engine = keyof typeof SIZES;

/** Places of queues, and how to empty them. */
async function createPlaces(engine: Engine): Promise<{ places: [string, string]; remove: () => Promise<void> }> {
  if (engine === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'relay-bench-'));
    return {
      places: [join(folder, 'warm-up.db'), join(folder, 'relay.db')],
      remove: () => rm(folder, { recursive: true }),
    };
  }
  const options = [sharedOptions(engine), sharedOptions(engine)] as const;
  return {
    places: [options[0].prefix!, options[1].prefix!],
    remove: async () => void (await Promise.all(options.map(removePlace))),
  };
}

async function measureSize(engine: Engine, size: number): Promise<{ filling: FillCost; draining: DrainCost }> {
  const { places, remove } = await createPlaces(engine);
  const [receiver, { url }] = await Child.start<{ url: string }>('receiver');
  const run = async <T>(task: 'fill' | 'drain'): Promise<T> => {
    const [child, cost] = await Child.start<T>('backlog.process', task, engine, url, ...places, String(size));
    await child.stop();
    return cost;
  };
  const filling = await run<FillCost>('fill');
  const draining = await run<DrainCost>('drain');
  await receiver.stop();
  await remove();
  return { filling, draining };
}

/** What a delivery costs with few and with many in the queue, and the memory that many take in the process. */
export async function measureBacklog(engine: Engine, full: boolean): Promise<Goal[]> {
  const { name, full: most, short } = SIZES[engine];
  const many = full ? most : short;
  const costs = [await measureSize(engine, FEW), await measureSize(engine, many)] as const;
  printTable(
    `${name} queue with a backlog, filled by one process and drained by another, CPU of all threads and of the store`,
    ['queued', 'delivery us', 'time us', 'add us', 'start ms', 'memory filling MB', 'draining MB'],
    costs.map(({ filling, draining: { cpu, elapsed, start, memory } }, index) => [
      [FEW, many][index]!.toLocaleString('en'),
      cpu.toFixed(1),
      elapsed.toFixed(0),
      filling.add.toFixed(1),
      start.toFixed(0),
      filling.memory.toFixed(0),
      memory.toFixed(0),
    ]),
  );
  const [few, { filling, draining }] = costs;
  const title = `${name} with ${many.toLocaleString('en')} queued`;
  return [
    { figure: `cost per delivery, ${title}, x 10,000 queued`, value: draining.cpu / few.draining.cpu, atMost: 1.15 },
    { figure: `memory, ${title}, MB`, value: Math.max(filling.memory, draining.memory), atMost: 300 },
  ];
}
