// A Nest application that records and forwards, in a process of its own. Arguments: URL of the receiver, flushInterval.
import 'reflect-metadata';

import { open } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AnalyticsModule, AnalyticsService, sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { SECRET } from '../support/messages.js';

/** What the bench asks for: so many events a second, for so many seconds. */
export interface Load {
  rate: number;
  seconds: number;
}

/** Times in ms, in ascending order, and the CPU of all threads for each event, in us. */
export interface Latencies {
  durable: number[];
  synced: number[];
  cpu: number;
}

const [receiver, flushInterval] = process.argv.slice(2) as [string, string?];
const folder = await mkdtemp(join(tmpdir(), 'inprocess-bench-'));

@Module({
  imports: [
    AnalyticsModule.forRoot({
      writeKey: 'wk',
      ...(flushInterval !== undefined && { flushInterval: Number(flushInterval) }),
    }),
    WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk' }],
      destinations: [{ urls: [receiver], sharedSecret: SECRET }],
      queue: sqliteQueue({ path: join(folder, 'relay.db') }),
      delivery: { allowedNetworks: ['127.0.0.0/8'] },
    }),
  ],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
const analytics = app.get(AnalyticsService);

/** Records each event in a turn of its own, as requests do, and notes how long it takes to be in the file, synced. */
async function record({ rate, seconds }: Load): Promise<Omit<Latencies, 'synced'>> {
  const durable: number[] = [];
  const count = rate * seconds;
  const { user, system } = process.cpuUsage();
  const begin = performance.now();
  for (let index = 0; index < count; index++) {
    const at = performance.now();
    if (begin + (index * 1_000) / rate > at) await sleep(1);
    else await nextTurn();
    const recordedAt = performance.now();
    analytics.track(
      { userId: 'u1', event: 'Order Completed', properties: { orderId: `order-${index}`, revenue: 119.99 } },
      (error) => {
        if (error) throw error as Error;
        durable.push(performance.now() - recordedAt);
      },
    );
  }
  await analytics.flush();
  const usage = process.cpuUsage();
  return { durable: durable.sort((a, b) => a - b), cpu: (usage.user + usage.system - user - system) / count };
}

/** How long the disk takes to sync 1 KB that is appended to a file: the least that anything durable can take. */
async function sync(): Promise<number[]> {
  const file = await open(join(folder, 'floor'), 'a');
  const times: number[] = [];
  for (let index = 0; index < 1_000; index++) {
    const start = performance.now();
    await file.write(Buffer.alloc(1_024));
    await file.datasync();
    times.push(performance.now() - start);
  }
  await file.close();
  return times.sort((a, b) => a - b);
}

async function measure(load: Load): Promise<Latencies> {
  const synced = await sync();
  await record({ ...load, seconds: 1 });
  return { synced, ...(await record(load)) };
}

process.on('message', (load: Load) => void measure(load).then((latencies) => process.send!(latencies)));
process.once('disconnect', () => void rm(folder, { recursive: true }).then(() => process.exit()));
process.send!('ready');
