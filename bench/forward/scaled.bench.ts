import { setTimeout as sleep } from 'node:timers/promises';

import { fillByHand } from './bullmq.contender.js';
import { Child } from '../support/child.js';
import { trackMessage } from '../support/messages.js';
import type { ReceiverReport } from '../support/receiver.js';
import { toDeliveries } from './relay.contender.js';
import { newPrefix, removePlace, type SharedEngine, storeQueue } from './shared.stores.js';
import { storeCpu } from './store.cpu.js';
import { type Goal, printTable } from '../support/table.js';

type Kind = SharedEngine | 'hand-written';

const CASES: [Kind, number][] = [
  ['hand-written', 1],
  ['redis', 1],
  ['postgres', 1],
  ['hand-written', 2],
  ['redis', 2],
  ['postgres', 2],
  ['redis', 4],
  ['postgres', 4],
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
  const queue = storeQueue(kind, prefix)();
  await queue.open();
  for (let start = 0; start < count; start += 500) await queue.add(toDeliveries(messages.slice(start, start + 500)));
  await queue.close();
}

/** Delivers a queue that was filled before, by one process or several. */
async function run(kind: Kind, processes: number, count: number): Promise<ScaledCost> {
  const engine = kind === 'postgres' ? 'postgres' : 'redis';
  const prefix = newPrefix();
  await fill(kind, prefix, count);
  const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver');
  const children: Child[] = [];
  for (let index = 0; index < processes; index++) {
    children.push((await Child.start('../forward/scaled.process', kind, prefix, url))[0]);
  }
  for (const child of children) child.tell('start');
  const reached = async (messages: number) => {
    for (;;) {
      const report = await receiver.ask<ReceiverReport>({});
      if (report.messages >= messages) return report;
      await sleep(10);
    }
  };
  // What comes first warms up.
  const { messages: before } = await reached(count / 4);
  for (const child of children) child.tell('measure');
  const store = storeCpu(engine);
  const start = performance.now();
  const report = await reached(count);
  const elapsed = performance.now() - start;
  const storeTime = storeCpu(engine) - store;
  const costs = await Promise.all(children.map((child) => child.ask<{ cpu: number }>('stop')));
  await Promise.all([...children, receiver].map((child) => child.stop()));
  await removePlace(engine, prefix);
  if (report.repeated > 0 || report.badSignatures > 0) throw new Error(`the receiver got ${JSON.stringify(report)}`);
  const cpu = costs.reduce((sum, cost) => sum + cost.cpu, 0);
  const measured = count - before;
  return { rate: (measured * 1_000) / elapsed, cpu: (cpu * 1_000) / measured, store: (storeTime * 1_000) / measured };
}

/** What queues that processes share deliver, beside the worker that one writes by hand with BullMQ and axios. */
export async function measureScaled(rounds: number): Promise<Goal[]> {
  const costs = CASES.map((): ScaledCost[] => []);
  // The rounds alternate, so that a noisy moment hits all of them.
  for (let round = 0; round < rounds; round++) {
    for (const [index, [kind, processes]] of CASES.entries()) {
      costs[index]!.push(await run(kind, processes, 16_000));
    }
  }
  const rates = new Map<string, number>();
  const rows = CASES.map(([kind, processes], index) => {
    const middle = (pick: (cost: ScaledCost) => number) =>
      costs[index]!.map(pick).sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
    const rate = middle((cost) => cost.rate);
    rates.set(`${kind} ${processes}`, rate);
    const rest = [rate, middle((cost) => cost.cpu), middle((cost) => cost.store)].map((value) => value.toFixed(0));
    return [kind, String(processes), ...rest];
  });
  printTable(
    'forward-scaled',
    `delivering from a shared queue, medians of ${rounds} rounds`,
    ['', 'processes', 'events/s', 'CPU µs/event', 'CPU of the store, µs/event'],
    rows,
  );
  return [1, 2].map((processes) => ({
    figure: `hand-written BullMQ and axios, events/s of redis, ${processes} processes`,
    value: rates.get(`hand-written ${processes}`)! / rates.get(`redis ${processes}`)!,
    atMost: 1 / 1.5,
  }));
}
