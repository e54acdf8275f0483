// Runs one contender in one scenario, and tells what it cost: the CPU time of all its threads.
import type { Contender } from './contender.js';
import { floor } from './floor.contender.js';
import { handWrittenBullmq } from './bullmq.contender.js';
import { handWritten } from './hand-written.contender.js';
import { trackMessage } from '../support/messages.js';
import { relay } from './relay.contender.js';

/** The columns. */
export const contenders: Record<string, Contender> = {
  floor,
  'hand-written': handWritten,
  memory: relay('memory', 'undici'),
  sqlite: relay('sqlite', 'undici'),
  'sqlite, libsql': relay('sqlite', 'undici'),
  redis: relay('redis', 'undici'),
  postgres: relay('postgres', 'undici'),
  'bullmq, hand-written': handWrittenBullmq,
  'memory, axios': relay('memory', 'axios'),
  'sqlite, axios': relay('sqlite', 'axios'),
};

export type Scenario = 'dispatch' | 'whole way';

/** What the bench tells this process. */
export type Order =
  | { do: 'dispatch'; receiver: string; warmUp: number; count: number }
  | { do: 'serve'; receiver: string }
  /** Resolves, as `cost`, once the messages of the load have been delivered. */
  | { do: 'measure'; delivered: number };

/** What this process tells the bench. */
export type Report = { url: string } | Cost;

export interface Cost {
  /** CPU time of all threads, in ms. */
  cpu: number;
  /** Of which the main thread's own, as far as its event loop was busy, in ms. */
  main: number;
  elapsed: number;
  /** Largest resident memory of the process, in MB. */
  memory: number;
}

const contender = contenders[process.argv[2]!]!;
let served: Awaited<ReturnType<Contender['serve']>> | undefined;

async function cost(work: () => Promise<void>): Promise<Cost> {
  const cpu = process.cpuUsage();
  const loop = performance.eventLoopUtilization();
  const start = performance.now();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return {
    cpu: (user + system) / 1_000,
    main: performance.eventLoopUtilization(loop).active,
    elapsed: performance.now() - start,
    memory: process.resourceUsage().maxRSS / 1_024,
  };
}

/** Nobody but the contender keeps the messages: they would be the garbage collector's work, not the contender's. */
function queueMessages(receiver: string, prefix: string, count: number): ReturnType<Contender['queue']> {
  return contender.queue(
    Array.from({ length: count }, (_, index) => trackMessage(`${prefix}-${index}`)),
    receiver,
  );
}

async function dispatch(receiver: string, prefix: string, count: number): Promise<Cost> {
  const queued = await queueMessages(receiver, prefix, count);
  const measured = await cost(() => queued.start());
  await queued.close();
  return measured;
}

async function run(order: Order): Promise<Report> {
  switch (order.do) {
    case 'dispatch':
      await dispatch(order.receiver, 'warm-up', order.warmUp);
      return dispatch(order.receiver, 'message', order.count);
    case 'serve':
      served = await contender.serve(order.receiver);
      return { url: served.url };
    case 'measure':
      return cost(() => served!.delivered(order.delivered));
  }
}

process.on('disconnect', () => process.exit());
process.on('message', (order: Order) => void run(order).then((report) => process.send!(report)));
process.send!('ready');
