// How much later webhooks arrive while readers search the admin API: npm run bench:searches
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

import { Child } from '../support/child.js';
import { trackMessage, WRITE_KEY } from '../support/messages.js';
import { option } from '../support/option.js';
import { type Goal, median, printGoals, printTable } from '../support/table.js';

const TOKEN = 'bench-token';

/** Readers at once, the number of a floor first. */
const READERS = [0, 3, 40];

/** Most that the p99 with three readers may be, as a multiple of the one without. */
const GOAL = 1.3;

const ROUNDS = Number(option('rounds') ?? 6);

/** Messages a second, and how long they are posted in each round, in ms. */
const RATE = 100;
const WINDOW = 5_000;

/** Time after which a message counts as arrived now, in ms. */
const MAX_LATE = 20_000;

/** Deliveries that are searched. */
const HELD = 20_000;

/** Times from a post to its webhook in ms, and answers to readers meanwhile. */
interface Measured {
  times: number[];
  answers: number;
}

async function measure(engine: string): Promise<void> {
  const arrived = new Map<string, number>();
  const receiver = createServer((request, response) => {
    arrived.set(String(request.headers['x-message-id']), performance.now());
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await sleep(100);
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const [relay, { url: host }] = await Child.start<{ url: string }>(
    '../admin/searched.process',
    engine,
    url,
    TOKEN,
    option('count') ?? String(HELD),
  );
  const pool = new Pool(host, { connections: 8 });
  let posted = 0;
  const window = async (): Promise<number[]> => {
    const sent = new Map<string, number>();
    const authorization = `Basic ${btoa(`${WRITE_KEY}:`)}`;
    const end = performance.now() + WINDOW;
    while (performance.now() < end) {
      const message = trackMessage(`sent${posted++}`);
      sent.set(message.messageId, performance.now());
      const request = { path: '/v1/track', method: 'POST', headers: { authorization } } as const;
      pool
        .request({ ...request, body: JSON.stringify(message) })
        .then(({ body }) => body.dump())
        .catch(() => undefined); // it counts as late
      await sleep(1_000 / RATE);
    }
    while (![...sent.keys()].every((id) => arrived.has(id)) && performance.now() < end + MAX_LATE) await sleep(50);
    return [...sent].map(([id, at]) => (arrived.get(id) ?? performance.now()) - at);
  };
  const windowWith = async (count: number): Promise<Measured> => {
    if (count === 0) return { times: await window(), answers: 0 };
    const [readers] = await Child.start<string>('../admin/readers.process', host, TOKEN, String(count));
    await sleep(500);
    const before = await readers.ask<number>('count');
    const times = await window();
    const answers = (await readers.ask<number>('count')) - before;
    await readers.stop();
    return { times, answers };
  };
  await window(); // the first calls are slower
  const measured = READERS.map((count) => ({ count, rounds: [] as Measured[] }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { count, rounds } of measured) rounds.push(await windowWith(count));
  }
  await relay.stop();
  await pool.close();
  receiver.closeAllConnections();
  receiver.close();

  let floor: number | undefined;
  for (const { count, rounds } of measured) {
    const times = rounds.flatMap((round) => round.times).sort((one, other) => one - other);
    const p99 = times[Math.floor(times.length * 0.99)]!;
    floor ??= p99;
    const rate = (rounds.reduce((sum, { answers }) => sum + answers, 0) * 1_000) / (ROUNDS * WINDOW);
    const ratio = p99 / floor;
    const cells = [median(times).toFixed(1), p99.toFixed(1), ratio.toFixed(2), rate.toFixed(0)];
    rows.push([`${engine}, ${count} readers`, ...cells]);
    if (count === 3) goals.push({ figure: `${engine}: p99 with three readers`, value: ratio, atMost: GOAL });
  }
}

const rows: string[][] = [];
const goals: Goal[] = [];
for (const engine of option('only')?.split(';') ?? ['memory', 'sqlite']) await measure(engine);
printTable(
  'searches',
  `From the post of a message to its webhook in ms, while readers search: all of ${ROUNDS} rounds`,
  ['queue', 'p50', 'p99', 'ratio of p99', 'answers/s'],
  rows,
);
printGoals(goals);
