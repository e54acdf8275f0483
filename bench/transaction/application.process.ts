// One application that runs transactions of one row on PostgreSQL. Arguments: contender, schema.
import 'reflect-metadata';

import { randomUUID } from 'node:crypto';

import { NestFactory } from '@nestjs/core';
import { AnalyticsModule, AnalyticsService, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';
import pg from 'pg';

import { POSTGRES_URL, type TransactionContender } from './contenders.js';

const [contender, schema] = process.argv.slice(2) as [TransactionContender, string];
const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 64 });
const event = (orderId: string) => ({ userId: 'u1', event: 'Order Placed', properties: { orderId, total: 42 } });

type Step = (client: pg.PoolClient, orderId: string) => Promise<unknown>;

const outbox: Step = (client, orderId) =>
  client.query(`INSERT INTO ${schema}.outbox (id, destination, payload) VALUES ($1, $2, $3)`, [
    randomUUID(),
    'Webhooks',
    JSON.stringify({ type: 'track', timestamp: new Date(), ...event(orderId) }),
  ]);

async function relay(): Promise<Step> {
  const relay = WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: 'wk_shop' }],
    destinations: [{ urls: ['https://receiver.example'] }],
    queue: postgresQueue({ connection: POSTGRES_URL, prefix: schema }),
    mode: 'ingest', // the delivery costs the same, wherever the event comes from
    ingest: false,
  });
  const imports = [relay, AnalyticsModule.forRoot({ writeKey: 'wk_shop' })];
  const app = await NestFactory.createApplicationContext({ module: class Shop {}, imports }, { logger: ['error'] });
  const analytics = app.get(AnalyticsService);
  return (client, orderId) => analytics.inTransaction(client).track(event(orderId));
}

const STEPS: Record<TransactionContender, () => Step | Promise<Step>> = {
  'no event': () => () => Promise.resolve(),
  'outbox row': () => outbox,
  'inTransaction().track()': relay,
  'no event, with NOTIFY': () => (client) => client.query("SELECT pg_notify('bench', 'x')"),
};
const step = await STEPS[contender]();

async function transact(): Promise<void> {
  const client = await pool.connect();
  const orderId = randomUUID();
  await client.query('BEGIN');
  await client.query(`INSERT INTO ${schema}.orders (id, user_id) VALUES ($1, $2)`, [orderId, 'u1']);
  await step(client, orderId);
  await client.query('COMMIT');
  client.release();
}

/** Resolves with the ms that a transaction takes, and the CPU of this process for it, in us. */
async function run({ concurrency, count }: { concurrency: number; count: number }) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let left = count;
  const repeat = async () => {
    while (left-- > 0) await transact();
  };
  await Promise.all(Array.from({ length: concurrency }, repeat));
  const { user, system } = process.cpuUsage(cpu);
  return { ms: (performance.now() - start) / count, cpu: (user + system) / count };
}

process.on('message', (order: { concurrency: number; count: number }) => {
  void run(order).then((result) => process.send!(result));
});
process.once('disconnect', () => process.exit());
process.send!('ready');
