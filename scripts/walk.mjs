// npm run walk: how many files, functions and calls of lib/ one warm operation enters, from its start to its end.
// An event ends with the answer of its webhook. The queue is in memory: a thread of its own would not be counted.
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AnalyticsModule,
  AnalyticsService,
  memoryQueue,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';

const WARM_UP = 50;
const built = new URL('../dist/', import.meta.url).href;

const receiver = createServer((request, response) => request.resume().on('end', () => response.end()));
await once(receiver.listen(0, '127.0.0.1'), 'listening');

class Application {}
Module({
  imports: [
    AnalyticsModule.forRoot({ writeKey: 'wk_shop' }),
    WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [
        { name: 'Webhooks', urls: [`http://127.0.0.1:${receiver.address().port}/`], sharedSecret: 'x'.repeat(32) },
      ],
      queue: memoryQueue(),
      registry: 'store',
      delivery: { allowedNetworks: ['127.0.0.0/8'] },
    }),
  ],
})(Application);
const app = await NestFactory.create(Application, { logger: false });
await app.listen(0, '127.0.0.1');
const host = await app.getUrl();
const analytics = app.get(AnalyticsService);
const relay = app.get(WebhookDestinationService);

async function delivered(start) {
  const end = new Promise((resolve) => {
    const subscription = relay.events$.subscribe(({ type }) => {
      if (type !== 'delivered') return;
      subscription.unsubscribe();
      resolve();
    });
  });
  await start();
  await end;
}

let created = 0;
const operations = {
  'track() in process': () =>
    delivered(() => analytics.track({ event: 'Order Completed', userId: 'u1', properties: { revenue: 10 } })),
  'POST /v1/track': () =>
    delivered(async () => {
      const body = JSON.stringify({
        writeKey: 'wk_shop',
        event: 'Order Completed',
        userId: 'u1',
        properties: { revenue: 10 },
      });
      const answer = await globalThis.fetch(`${host}/v1/track`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      if (!answer.ok) throw new Error(`POST /v1/track answered ${answer.status}`);
      await answer.arrayBuffer();
    }),
  'destinations.create()': () =>
    relay.destinations.create({ name: `created-${created++}`, urls: ['https://receiver.example/'], enabled: false }),
};

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** What has been called since this was asked last. */
async function entered() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith(built))
    .map(({ url, functions }) => ({
      file: url.slice(built.length),
      calls: functions.flatMap(({ ranges: [{ count }] }) => (count > 0 ? count : [])),
    }))
    .filter(({ calls }) => calls.length > 0);
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const rows = [];
for (const [operation, run] of Object.entries(operations)) {
  for (let index = 0; index < WARM_UP; index++) await run();
  await entered();
  await run();
  const files = await entered();
  const functions = sum(files.map(({ calls }) => calls.length));
  rows.push({ operation, files: files.length, functions, calls: sum(files.flatMap(({ calls }) => calls)) });
  if (process.argv.includes('--files'))
    console.log([operation, ...files.map(({ file, calls }) => `  ${file} ${sum(calls)}`)].join('\n'));
}
console.table(rows);
await app.close();
receiver.close();
