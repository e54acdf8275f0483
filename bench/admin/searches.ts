// How much later webhooks arrive while 40 readers search the admin API: npm run bench:searches
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

import { Child } from '../support/child.js';
import { trackMessage, WRITE_KEY } from '../support/messages.js';
import { option } from '../support/option.js';
import { median, printTable } from '../support/table.js';

const TOKEN = 'bench-token';
const READERS = 40;

/** Messages a second, and how long they are posted, in ms. */
const RATE = 50;
const WINDOW = 10_000;

/** Time after which a message counts as arrived now, in ms. */
const MAX_LATE = 20_000;

/** Deliveries that are searched. */
const HELD = 20_000;

async function measure(engine: string): Promise<string[]> {
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
  const window = async () => {
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
    return median([...sent].map(([id, at]) => (arrived.get(id) ?? performance.now()) - at));
  };
  const alone = await window();
  const [readers] = await Child.start<string>('../admin/readers.process', host, TOKEN, String(READERS));
  await sleep(500);
  const before = await readers.ask<number>('count');
  const startedAt = performance.now();
  const read = await window();
  const rate = ((await readers.ask<number>('count')) - before) / ((performance.now() - startedAt) / 1_000);
  await readers.stop();
  await relay.stop();
  await pool.close();
  receiver.closeAllConnections();
  receiver.close();
  return [engine, alone.toFixed(1), read.toFixed(1), (read / alone).toFixed(1), rate.toFixed(0)];
}

const rows: string[][] = [];
for (const engine of option('only')?.split(';') ?? ['memory', 'sqlite']) rows.push(await measure(engine));
printTable(
  'searches',
  `From the post of a message to its webhook, p50 in ms, without and with ${READERS} readers`,
  ['queue', 'alone', 'with readers', 'ratio', 'answers/s'],
  rows,
);
