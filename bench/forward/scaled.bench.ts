import { setTimeout as sleep } from 'node:timers/promises';

import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';

import { fillByHand } from './bullmq.contender.js';
import { Child } from './child.js';
import { trackMessage } from './messages.js';
import type { ReceiverReport } from './receiver.js';
import { toDeliveries } from './relay.contender.js';
import { removePlace, type SharedEngine, sharedOptions } from './shared.stores.js';
import { storeCpu } from './store.cpu.js';
import { type Goal, printTable } from './table.js';

type Kind = SharedEngine | 'hand-written';

const CASES: [Kind, number][] = [
  ['hand-written', 1],
  ['redis', 1],
  ['postgres', 1],
  ['hand-written', 2],
  ['redis', 2],
  ['postgres', 2],
];

interface ScaledCost {
  rate: number;
  /** CPU time of an event, of the processes and of the store, in us. */
  cpu: number;
  store: number;
}

async function fill(kind: Kind, prefix: string, count: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => trackMessage(`message-${index}`));
  if (kind === 'hand-written') return fillByHand(prefix, messages);
  const queue = bullmqQueue(sharedOptions(kind, prefix))();
  await queue.open();
  for (let start = 0; start < count; start += 500) await queue.add(toDeliveries(messages.slice(start, start + 500)));
  await queue.close();
}

/** Delivers a queue that was filled before, by one process or several. */
async function run(kind: Kind, processes: number, count: number): Promise<ScaledCost> {
  const options = sharedOptions(kind === 'hand-written' ? 'redis' : kind);
  await fill(kind, options.prefix!, count);
  const [receiver, { url }] = await Child.start<{ url: string }>('receiver');
  const children: Child[] = [];
  for (let index = 0; index < processes; index++) {
    children.push((await Child.start('scaled.process', kind, options.prefix!, url))[0]);
  }
  const engine = kind === 'postgres' ? 'postgres' : 'redis';
  const store = storeCpu(engine);
  const start = performance.now();
  for (const child of children) child.tell('start');
  let report: ReceiverReport;
  do {
    await sleep(20);
    report = await receiver.ask<ReceiverReport>({});
  } while (report.messages < count);
  const elapsed = performance.now() - start;
  const storeTime = storeCpu(engine) - store;
  const costs = await Promise.all(children.map((child) => child.ask<{ cpu: number }>('stop')));
  await Promise.all([...children, receiver].map((child) => child.stop()));
  await removePlace(options);
  if (report.repeated > 0 || report.badSignatures > 0) throw new Error(`the receiver got ${JSON.stringify(report)}`);
  const cpu = costs.reduce((sum, cost) => sum + cost.cpu, 0);
  return { rate: count / (elapsed / 1_000), cpu: (cpu * 1_000) / count, store: (storeTime * 1_000) / count };
}

/** What queues that processes share deliver, beside the worker that one writes by hand with BullMQ and axios. */
export async function measureScaled(rounds: number): Promise<Goal[]> {
  const rates = new Map<string, number>();
  const rows: string[][] = [];
  for (const [kind, processes] of CASES) {
    const count = kind === 'postgres' ? 5_000 : 20_000;
    const costs: ScaledCost[] = [];
    for (let round = 0; round < rounds; round++) costs.push(await run(kind, processes, count));
    const { rate, cpu, store } = costs.sort((a, b) => a.rate - b.rate)[Math.floor(rounds / 2)]!;
    rates.set(`${kind} ${processes}`, rate);
    rows.push([kind, String(processes), rate.toFixed(0), cpu.toFixed(0), store.toFixed(0)]);
  }
  printTable(
    `delivering from a shared queue, start of the processes included; median of ${rounds} rounds`,
    ['', 'processes', 'events/s', 'CPU us/event', 'of the store'],
    rows,
  );
  return [1, 2].map((processes) => ({
    figure: `hand-written BullMQ and axios, events/s of redis, ${processes} processes`,
    value: rates.get(`hand-written ${processes}`)! / rates.get(`redis ${processes}`)!,
    atMost: 1 / 1.5,
  }));
}
