// Writes what this version stores into test/fixtures/<version>/, for test/e2e/upgrades.spec.ts: a SQLite file, the keys of
// a Redis as commands, and a schema of PostgreSQL as SQL. To be run once before a release, on a machine with both stores:
//   npm run build && node scripts/release-fixtures.mjs
import 'reflect-metadata';

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { sqliteQueue, VERSION, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';
import pg from 'pg';
import { filter, firstValueFrom, take, toArray } from 'rxjs';

const PREFIX = 'relay_fixture'; // the test puts its own in its place
const REDIS_URL = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';
const POSTGRES_URL = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';
const folder = new URL(`../test/fixtures/${VERSION}/`, import.meta.url);

/** Answers each event with the status of its name. */
const STATUSES = { Delivered: 200, Dead: 410, Waiting: 503 };
const receiver = createServer(async (request, response) => {
  const { event } = JSON.parse(Buffer.concat(await request.toArray()));
  response.writeHead(STATUSES[event]).end();
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');

/** Deliveries in each state, and a registry with a source and a paused destination, whose delivery is queued. */
async function fill(queue) {
  const urls = [`http://127.0.0.1:${receiver.address().port}/hook`];
  const module = WebhookDestinationModule.forRoot({
    queue,
    sources: [{ name: 'shop', writeKey: 'wk_shop' }],
    destinations: [{ name: 'fixed', urls, sources: ['shop'] }],
    registry: 'store',
    registrySecret: 'a secret of the fixtures',
    delivery: { allowedNetworks: ['localhost'] },
  });
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  const service = app.get(WebhookDestinationService);
  await service.sources.create({ name: 'customer', writeKey: 'wk_customer' });
  const destination = {
    name: 'stored',
    urls,
    sources: ['customer'],
    sharedSecret: 'a secret of the stored destination',
  };
  await service.destinations.create(destination);
  await service.destinations.pause('stored');
  const settled = firstValueFrom(
    service.events$.pipe(
      filter(({ destination: name }) => name === 'fixed'),
      take(3),
      toArray(),
    ),
  );
  const message = (event) => ({ type: 'track', userId: 'u1', event, messageId: event.toLowerCase() });
  await service.accept('wk_shop', Object.keys(STATUSES).map(message));
  await service.accept('wk_customer', [message('Queued')]);
  await settled;
  await app.close();
}

/** The commands that bring back a key of Redis. */
async function commandsOf(redis, key) {
  const read = {
    string: async () => ['SET', key, await redis.get(key)],
    hash: async () => ['HSET', key, ...Object.entries(await redis.hgetall(key)).flat()],
    set: async () => ['SADD', key, ...(await redis.smembers(key))],
    list: async () => ['RPUSH', key, ...(await redis.lrange(key, 0, -1))],
    zset: async () => {
      const pairs = await redis.zrange(key, 0, -1, 'WITHSCORES');
      return ['ZADD', key, ...pairs.map((_, index) => pairs[index ^ 1])]; // the score comes first
    },
  };
  const type = await redis.type(key);
  // BullMQ's stream of events is only read while somebody listens.
  if (type === 'stream' || type === 'none') return [];
  const left = await redis.pttl(key);
  return [await read[type](), ...(left > 0 ? [['PEXPIREAT', key, String(Date.now() + left)]] : [])];
}

async function writeSqlite() {
  const place = mkdtempSync(join(tmpdir(), 'fixture-'));
  const path = join(place, 'relay.db');
  await fill(sqliteQueue({ path }));
  copyFileSync(path, new URL('relay.db', folder));
  rmSync(place, { recursive: true });
}

async function writeRedis() {
  const redis = new Redis(REDIS_URL);
  const keys = async () => (await redis.keys(`${PREFIX}:*`)).sort();
  await fill(bullmqQueue({ connection: REDIS_URL, prefix: PREFIX }));
  const commands = (await Promise.all((await keys()).map((key) => commandsOf(redis, key)))).flat();
  await redis.del(await keys());
  redis.disconnect();
  writeFileSync(new URL('redis.jsonl', folder), commands.map((command) => `${JSON.stringify(command)}\n`).join(''));
}

async function writePostgres() {
  await fill(postgresQueue({ connection: POSTGRES_URL, prefix: PREFIX, migrate: true }));
  const dump = execFileSync('pg_dump', [POSTGRES_URL, `--schema=${PREFIX}`, '--inserts', '--no-owner', '--no-acl'], {
    encoding: 'utf8',
  });
  // Without comments, commands of psql, and settings that an older server does not know.
  const lines = dump
    .split('\n')
    .filter((line) => line !== '' && !/^(--|\\|SET |SELECT pg_catalog.set_config)/.test(line));
  writeFileSync(new URL('postgres.sql', folder), `${lines.join('\n')}\n`);
  const client = new pg.Client(POSTGRES_URL);
  await client.connect();
  await client.query(`DROP SCHEMA ${PREFIX} CASCADE`);
  await client.end();
}

if (existsSync(folder)) {
  process.stderr.write(`${VERSION} has its fixtures. Remove test/fixtures/${VERSION} if it was not released yet.\n`);
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
try {
  await writeSqlite();
  await writeRedis();
  await writePostgres();
} catch (error) {
  rmSync(folder, { recursive: true });
  throw error;
} finally {
  receiver.closeAllConnections();
  receiver.close();
}
