// npm run bench:ingest: what taking events over HTTP costs, beside a bare Nest controller that parses the same JSON.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Child } from '../support/child.js';
import { option } from '../support/option.js';
import { type Goal, median, printGoals, printTable } from '../support/table.js';
import { BATCH, type Shape } from './events.js';
import type { ContenderName, Platform, ServerCost } from './server.process.js';

const ROUNDS = Number(option('rounds') ?? 3);
/** Shorter runs: a part of the requests. */
const TIMES = Number(option('times') ?? 1);
const ONLY = option('only');
/** At least 100,000 messages, so that all that grows has its size and all JavaScript is compiled. */
const REQUESTS: Record<Shape, number> = { batch: 7_000 * TIMES, single: 100_000 * TIMES };
/** Part of the requests that comes before, unmeasured. */
const WARM_UP = 0.5;

const PLATFORMS: Platform[] = ['Fastify', 'Express'];
const SHAPES: Shape[] = ['batch', 'single'];
const CONTENDERS: ContenderName[] = ['floor', 'memory', 'sqlite'];

/** Most CPU for each event on Fastify, as a multiple of the floor's. */
const GOALS: Record<Exclude<ContenderName, 'floor'>, number> = { memory: 1.3, sqlite: 1.5 };

interface Result {
  /** Requests a second. */
  rate: number;
  /** CPU of the server's threads for each event, in us. */
  cpu: number;
}

async function run(contender: ContenderName, platform: Platform, shape: Shape): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'ingest-bench-'));
  const database = join(folder, 'relay.db');
  const [server, { url }] = await Child.start<{ url: string }>(
    '../ingest/server.process',
    contender,
    platform,
    database,
  );
  const [load] = await Child.start('../ingest/load.process');
  const count = REQUESTS[shape];
  const warmUp = count * WARM_UP;
  const events = shape === 'batch' ? BATCH : 1;
  await load.ask({ url, shape, count: warmUp, first: 0 });
  await server.ask<ServerCost>({});
  const { elapsed } = await load.ask<{ elapsed: number }>({ url, shape, count, first: warmUp * events });
  const { cpu, queued } = await server.ask<ServerCost>({});
  await Promise.all([server.stop(), load.stop()]);
  await rm(folder, { recursive: true });
  const expected = contender === 'floor' ? 0 : (warmUp + count) * events;
  if (queued !== expected) throw new Error(`${contender} on ${platform}: ${queued} of ${expected} are queued`);
  return { rate: count / (elapsed / 1_000), cpu: (cpu * 1_000) / (count * events) };
}

/** Rounds of all contenders in turn; a ratio compares what ran in the same round. Resolves with the CPU x floor of each. */
async function compare(platform: Platform, shape: Shape): Promise<Map<ContenderName, number>> {
  const results = new Map<ContenderName, Result[]>(CONTENDERS.map((contender) => [contender, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of CONTENDERS) results.get(contender)!.push(await run(contender, platform, shape));
  }
  const floor = results.get('floor')!;
  const ratio = (list: Result[], figure: keyof Result) =>
    median(list.map((result, round) => result[figure] / floor[round]![figure]));
  printTable(
    `ingest-${platform.toLowerCase()}-${shape}`,
    `${platform}, ${shape === 'batch' ? `batches of ${BATCH} events` : 'single events'}: medians of ${ROUNDS} rounds`,
    ['', 'requests/s', 'requests, x floor', 'CPU µs/event', 'CPU, x floor'],
    [...results].map(([contender, list]) => [
      contender,
      median(list.map(({ rate }) => rate)).toFixed(0),
      ratio(list, 'rate').toFixed(2),
      median(list.map(({ cpu }) => cpu)).toFixed(1),
      ratio(list, 'cpu').toFixed(2),
    ]),
  );
  return new Map([...results].map(([contender, list]) => [contender, ratio(list, 'cpu')]));
}

const goals: Goal[] = [];
for (const platform of PLATFORMS) {
  for (const shape of SHAPES) {
    if (ONLY !== undefined && ONLY !== `${platform}, ${shape}`) continue;
    const ratios = await compare(platform, shape);
    if (platform !== 'Fastify') continue;
    for (const [contender, atMost] of Object.entries(GOALS) as [keyof typeof GOALS, number][]) {
      goals.push({ figure: `CPU x floor, ${contender}, ${shape}`, value: ratios.get(contender)!, atMost });
    }
  }
}
printGoals(goals);
