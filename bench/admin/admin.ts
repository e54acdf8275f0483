// How long the admin API and the dashboard take to answer with a million deliveries in SQLite: npm run bench:admin
import 'reflect-metadata';

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { option } from '../support/option.js';
import { median, printGoals, printTable } from '../support/table.js';
import { fill } from './fill.js';
import { timeFirstView } from './first-view.js';

const TOKEN = 'bench-token';

/** Longest time of one answer, and of the dashboard's first view, in ms. */
const GOAL = 200;
const FIRST_VIEW_GOAL = 1_000;

/** Most portions that are followed. */
const MAX_PORTIONS = 400;

const ASKED: [question: string, path: string][] = [
  ['newest 50', 'deliveries'],
  ['newest 50 dead', 'deliveries?state=dead'],
  ['50 of a user (1 in 10,000)', 'deliveries?userId=u77'],
  ['a message in the middle', 'deliveries?messageId=m500000'],
  ['a message that there is not', 'deliveries?messageId=none'],
  ['an event (1 in 100,000)', 'deliveries?event=Order%20Refunded'],
  ['dead of an event', 'deliveries?state=dead&event=Order%20Refunded'],
  ['a destination that there is not', 'deliveries?destination=None'],
  ['a time before all', 'deliveries?to=2020-01-01'],
  ['what is held of a user', 'users/u77'],
  ['series of a day', 'timeseries'],
  ['destinations', 'destinations'],
];

const isSearch = (target: string) => /^(deliveries|users)/.test(target);

async function measure(): Promise<void> {
  const count = Number(option('count') ?? 1_000_000);
  const batch = Number(option('batch') ?? 250);
  const folder = await mkdtemp(join(tmpdir(), 'relay-admin-'));
  const path = process.env.ADMIN_BENCH_FILE ?? join(folder, 'relay.db');
  if (!existsSync(path)) await fill(path, count, batch);
  const module = WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: 'wk_bench' }],
    destinations: [{ urls: ['https://receiver.example/hook'] }],
    queue: sqliteQueue({ path, retention: { delivered: { count }, dead: { count } } }),
    admin: { token: TOKEN },
  });
  const app = await NestFactory.create(module, { logger: false });
  await app.listen(0, '127.0.0.1');
  const base = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  const view = await timeFirstView(base, TOKEN); // before anything has been read
  const ask = async (target: string) => {
    const start = performance.now();
    const response = await fetch(`${base}/relay/api/${target}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    const answer = (await response.json()) as { deliveries?: unknown[]; cursor?: string };
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return { time: performance.now() - start, answer };
  };
  await ask('destinations'); // opens the connection
  const rows: string[][] = [];
  let worst = 0;
  for (const [question, target] of ASKED) {
    const times: number[] = [];
    let found = 0;
    let cursor: string | undefined;
    do {
      const more = cursor === undefined ? '' : `${target.includes('?') ? '&' : '?'}cursor=${cursor}`;
      const { time, answer } = await ask(target + more);
      times.push(time);
      found += answer.deliveries?.length ?? 0;
      cursor = found < 50 ? answer.cursor : undefined;
    } while (cursor !== undefined && times.length < MAX_PORTIONS);
    const slowest = Math.max(...times);
    if (isSearch(target)) worst = Math.max(worst, slowest);
    const total = times.reduce((sum, time) => sum + time, 0);
    rows.push([
      question,
      String(found),
      String(times.length),
      ...[median(times), slowest, total].map((ms) => ms.toFixed(0)),
    ]);
  }
  printTable(
    `admin-${batch}`,
    `${count} deliveries in SQLite, accepted ${batch} at a time; ms`,
    ['asked for', 'found', 'portions', 'median', 'slowest', 'together'],
    rows,
  );
  if (view === undefined) console.log('\nThe first view of the dashboard was not timed: there is no Chromium.');
  printGoals([
    { figure: 'slowest answer to a list or search, ms', value: worst, atMost: GOAL },
    ...(view === undefined ? [] : [{ figure: "the dashboard's first view, ms", value: view, atMost: FIRST_VIEW_GOAL }]),
  ]);
  await app.close();
  await rm(folder, { recursive: true });
}

await measure();
