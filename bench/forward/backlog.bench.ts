import type { BacklogCost } from './backlog.process.js';
import { Child } from './child.js';
import { type Goal, printTable } from './table.js';

/** What a delivery costs with few and with many in the queue, and the memory that many take. */
export async function measureBacklog(full: boolean): Promise<Goal[]> {
  const sizes = [10_000, full ? 1_000_000 : 100_000];
  const costs: BacklogCost[] = [];
  for (const size of sizes) {
    const [receiver, { url }] = await Child.start<{ url: string }>('receiver');
    const [child, cost] = await Child.start<BacklogCost>('backlog.process', url, String(size));
    costs.push(cost);
    await Promise.all([child.stop(), receiver.stop()]);
  }
  printTable(
    'SQLite queue with a backlog, CPU of all threads',
    ['queued', 'delivery us', 'add us', 'memory MB'],
    costs.map(({ cpu, add, memory }, index) => [
      sizes[index]!.toLocaleString('en'),
      cpu.toFixed(1),
      add.toFixed(1),
      memory.toFixed(0),
    ]),
  );
  const [few, many] = costs as [BacklogCost, BacklogCost];
  const title = `with ${sizes[1]!.toLocaleString('en')} queued`;
  return [
    { figure: `cost per delivery ${title}, x 10,000 queued`, value: many.cpu / few.cpu, atMost: 1.15 },
    { figure: `memory ${title}, MB`, value: many.memory, atMost: 300 },
  ];
}
