// npm run bench:track: what @Track costs on an HTTP route, beside the same route without it, delivery included.
import { Child } from '../support/child.js';
import { option } from '../support/option.js';
import { median, printTable } from '../support/table.js';
import type { ContenderName, Platform } from './server.process.js';

const ROUNDS = Number(option('rounds') ?? 15);
const REQUESTS = 5_000;
const WARM_UP = 10_000;

const PLATFORMS: Platform[] = ['Express', 'Fastify'];
const CONTENDERS: ContenderName[] = ['bare', 'module', 'track', 'track, flushAt: 100'];

/** Least throughput with `@Track`, as a part of that of the bare route. */
const GOAL = 0.97;

interface Result {
  /** Requests a second. */
  rate: number;
  /** CPU of all threads of the server for each request, in us. */
  cpu: number;
}

/** All contenders at once, each in a process of its own; they are asked in turn, so that a round compares like with like. */
async function compare(platform: Platform): Promise<Map<ContenderName, Result[]>> {
  const [sink, { host }] = await Child.start<{ host: string }>('../track/sink.process');
  const [load] = await Child.start('../track/load.process');
  const servers = new Map<ContenderName, { server: Child; port: number }>();
  for (const contender of CONTENDERS) {
    const [server, { url }] = await Child.start<{ url: string }>('../track/server.process', contender, platform, host);
    servers.set(contender, { server, port: Number(new URL(url).port) });
  }

  async function run(contender: ContenderName, count: number): Promise<Result> {
    const { server, port } = servers.get(contender)!;
    await server.ask({});
    const { elapsed } = await load.ask<{ elapsed: number }>({ port, count });
    const { cpu } = await server.ask<{ cpu: number }>({});
    const { events, unique } = await sink.ask<{ events: number; unique: number }>({});
    const expected = contender.startsWith('track') ? count : 0;
    if (events !== expected || unique !== expected) {
      throw new Error(
        `${contender} on ${platform}: ${unique} of ${expected} events arrived, ${events} with repetitions`,
      );
    }
    return { rate: count / (elapsed / 1_000), cpu: (cpu * 1_000) / count };
  }

  const results = new Map<ContenderName, Result[]>(CONTENDERS.map((contender) => [contender, []]));
  for (const contender of CONTENDERS) await run(contender, WARM_UP);
  for (let round = 0; round < ROUNDS; round++) {
    for (let turn = 0; turn < CONTENDERS.length; turn++) {
      const contender = CONTENDERS[(round + turn) % CONTENDERS.length]!;
      results.get(contender)!.push(await run(contender, REQUESTS));
    }
  }
  await Promise.all([sink, load, ...[...servers.values()].map(({ server }) => server)].map((child) => child.stop()));
  return results;
}

const cpuOf = (list: Result[]) => median(list.map(({ cpu }) => cpu));

const goals: string[][] = [];
for (const platform of PLATFORMS) {
  const results = await compare(platform);
  const bare = results.get('bare')!;
  const ratio = (list: Result[], figure: keyof Result) =>
    median(list.map((result, round) => result[figure] / bare[round]![figure]));
  printTable(
    `track-${platform.toLowerCase()}`,
    `${platform}: medians of ${ROUNDS} rounds of ${REQUESTS} requests`,
    ['', 'requests/s', 'requests, x bare', 'CPU µs/request', 'CPU, x bare', 'an event, µs'],
    [...results].map(([contender, list]) => [
      contender,
      median(list.map(({ rate }) => rate)).toFixed(0),
      ratio(list, 'rate').toFixed(2),
      cpuOf(list).toFixed(1),
      ratio(list, 'cpu').toFixed(2),
      contender.startsWith('track') ? (cpuOf(list) - cpuOf(results.get('module')!)).toFixed(0) : '',
    ]),
  );
  const measured = ratio(results.get('track')!, 'rate');
  if (measured < GOAL) process.exitCode = 1;
  goals.push([
    `${platform}, requests/s x bare`,
    measured.toFixed(2),
    GOAL.toFixed(2),
    measured < GOAL ? 'MISSED' : 'reached',
  ]);
}
printTable(undefined, 'goals', ['figure', 'measured', 'at least', ''], goals);
