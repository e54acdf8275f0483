import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

import { Child } from '../support/child.js';
import { trackMessage, WRITE_KEY } from '../support/messages.js';
import { type Goal, median, printTable } from '../support/table.js';

/** Messages a second; far below what the relay can do, so that latency is not a queue's. */
const RATE = 200;

/** Time before the measurement: the dead destination is at its worst once its first attempts run out. */
const WARM_UP = 2_000;

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** The times from posting a message to its arrival at the healthy receiver, in ms, in ascending order. */
async function measure(withDead: boolean, duration: number): Promise<number[]> {
  const postedAt = new Map<string, number>();
  const latencies: number[] = [];
  const healthy = createServer((request, response) => {
    request.resume().on('end', () => {
      const at = postedAt.get(String(request.headers['x-message-id']));
      if (at !== undefined) latencies.push(performance.now() - at);
      response.writeHead(200).end();
    });
  });
  // It accepts connections, and never answers.
  const dead = createServer((request) => void request.resume());
  const urls = [await listen(healthy), ...(withDead ? [await listen(dead)] : [])];
  const [relay, { url }] = await Child.start<{ url: string }>('../forward/isolation.process', ...urls);
  const pool = new Pool(url, { connections: 8 });
  const start = performance.now();
  for (let index = 0; performance.now() - start < WARM_UP + duration; index++) {
    await sleep(start + (index * 1_000) / RATE - performance.now());
    const message = trackMessage(`message-${index}`);
    if (performance.now() - start >= WARM_UP) postedAt.set(message.messageId, performance.now());
    void pool
      .request({ path: '/v1/track', method: 'POST', body: JSON.stringify({ ...message, writeKey: WRITE_KEY }) })
      .then((response) => response.body.dump());
  }
  while (latencies.length < postedAt.size) await sleep(20);
  await relay.stop();
  await pool.destroy();
  for (const server of [healthy, dead]) {
    server.closeAllConnections();
    server.close();
  }
  return latencies.sort((a, b) => a - b);
}

/** How a dead destination slows down the healthy one beside it. */
export async function measureIsolation(full: boolean): Promise<Goal[]> {
  const rounds = full ? 5 : 3;
  const duration = full ? 15_000 : 8_000;
  const figures = { alone: [] as number[][], beside: [] as number[][] };
  for (let round = 0; round < rounds; round++) {
    figures.alone.push(await measure(false, duration));
    figures.beside.push(await measure(true, duration));
  }
  const at = (runs: number[][], quantile: number) =>
    median(runs.map((latencies) => latencies[Math.floor(quantile * latencies.length)]!));
  printTable(
    'forward-isolation',
    `healthy destination, ${RATE} messages/s, from POST to arrival in ms, medians of ${rounds} rounds`,
    ['', 'p50, ms', 'p90, ms', 'p99, ms'],
    Object.entries({ alone: figures.alone, 'beside a dead one': figures.beside }).map(([name, runs]) => [
      name,
      ...[0.5, 0.9, 0.99].map((quantile) => at(runs, quantile).toFixed(2)),
    ]),
  );
  const value = at(figures.beside, 0.99) / at(figures.alone, 0.99);
  return [{ figure: 'p99 of a healthy destination beside a dead one, x alone', value, atMost: 1.2 }];
}
