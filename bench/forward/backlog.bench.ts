import type { BacklogCost } from './backlog.process.js';
import { Child } from './child.js';
import { type Goal, printTable } from './table.js';

const FEW = 10_000;

/** Most deliveries that are queued, with `--full` and without. */
const SIZES = {
  sqlite: { name: 'SQLite', full: 1_000_000, short: 100_000 },
  redis: { name: 'Redis', full: 500_000, short: 100_000 },
  postgres: { name: 'PostgreSQL', full: 500_000, short: 50_000 },
};

/** What a delivery costs with few and with many in the queue, and the memory that many take in the process. */
export async function measureBacklog(engine: keyof typeof SIZES, full: boolean): Promise<Goal[]> {
  const { name, full: most, short } = SIZES[engine];
  const sizes = [FEW, full ? most : short];
  const costs: BacklogCost[] = [];
  for (const size of sizes) {
    const [receiver, { url }] = await Child.start<{ url: string }>('receiver');
    const [child, cost] = await Child.start<BacklogCost>('backlog.process', engine, url, String(size));
    costs.push(cost);
    await Promise.all([child.stop(), receiver.stop()]);
  }
  printTable(
    `${name} queue with a backlog, CPU of all threads and of the store`,
    ['queued', 'delivery us', 'time us', 'add us', 'start ms', 'memory MB'],
    costs.map(({ cpu, elapsed, add, memory, start }, index) => [
      sizes[index]!.toLocaleString('en'),
      cpu.toFixed(1),
      elapsed.toFixed(0),
      add.toFixed(1),
      start.toFixed(0),
      memory.toFixed(0),
    ]),
  );
  const [few, many] = costs as [BacklogCost, BacklogCost];
  const title = `${name} with ${sizes[1]!.toLocaleString('en')} queued`;
  return [
    { figure: `cost per delivery, ${title}, x 10,000 queued`, value: many.cpu / few.cpu, atMost: 1.15 },
    { figure: `memory, ${title}, MB`, value: many.memory, atMost: 300 },
  ];
}
