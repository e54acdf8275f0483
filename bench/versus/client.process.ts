// One client in a process of its own. Arguments: its name, the URL it posts to, its batch size, its prefix in Redis.
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { CLIENTS } from './clients.js';

/** What the bench asks for: so many events as fast as they are delivered, or at a rate, with a byte in a file for each. */
export type ClientOrder = { events: number; round: number } | { rate: number; file: string };

export interface ClientCost {
  /** CPU time of all threads, in ms. */
  cpu: number;
  elapsed: number;
  /** Largest resident memory, in MB. */
  memory: number;
}

const [name, url, batchSize, prefix] = process.argv.slice(2) as [string, string, string, string];
const client = await CLIENTS[name]!.create(url, Number(batchSize), prefix);

async function recordAll(events: number, round: number): Promise<ClientCost> {
  const before = process.cpuUsage();
  const begin = performance.now();
  for (let left = events; left > 0; left -= round) {
    for (let index = Math.min(left, round); index > 0; index--) client.record();
    await client.flush();
  }
  const { user, system } = process.cpuUsage(before);
  const elapsed = performance.now() - begin;
  return { cpu: (user + system) / 1_000, elapsed, memory: process.resourceUsage().maxRSS / 1_024 };
}

async function recordAtRate(rate: number, path: string): Promise<void> {
  const file = openSync(path, 'a');
  const begin = performance.now();
  for (let index = 0; ; index++) {
    while (begin + (index * 1_000) / rate > performance.now()) await sleep(1);
    client.record();
    writeSync(file, '.');
  }
}

process.on('message', (order: ClientOrder) => {
  if ('rate' in order) void recordAtRate(order.rate, order.file);
  else void recordAll(order.events, order.round).then((cost) => process.send!(cost));
});
process.on('disconnect', () => process.exit());
process.send!('ready');
