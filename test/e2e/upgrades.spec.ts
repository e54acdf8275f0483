import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';

import { Redis } from 'ioredis';
import {
  type DeliveryQueueFactory,
  sqliteQueue,
  VERSION,
  verifyStandardWebhook,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';
import { beforeEach, expect, it } from 'vitest';

import { sharedQueue } from '../support/shared-queue.js';
import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { Relay } from '../support/relay.js';
import { describeOnEach, postgresStore, queryPostgres, REDIS_URL, redisStore } from '../support/services.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';

/** What each release has written: scripts/release-fixtures.mjs. */
const FIXTURES = 'test/fixtures';
const releases = readdirSync(FIXTURES);

/** The prefix in the fixtures. */
const PREFIX = 'relay_fixture';

/** The fixtures are of any age: nothing in them is too old to be kept or sent. */
const NEVER = 100 * 365 * 24 * 60 * 60 * 1_000;
const bound = { age: NEVER, count: 1_000 };
const retention = { delivered: bound, dead: bound, messageIds: bound, refused: bound };

const cleanUp = useCleanUps();
let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
  cleanUp(() => receiver.stop());
});

/** Opens a store of an earlier release, and takes all that it holds to its end. */
async function deliverAll(queue: DeliveryQueueFactory): Promise<void> {
  const urls = [receiver.url];
  const relay = await Relay.start({
    queue,
    sources: [{ name: 'shop', writeKey: 'wk_shop' }],
    destinations: [{ name: 'fixed', urls, sources: ['shop'] }],
    registry: 'store',
    registrySecret: 'a secret of the fixtures',
    delivery: { allowedNetworks: ['localhost'], retryWindow: NEVER, initialRetryDelay: 10 },
  });
  cleanUp(() => relay.app.close());
  const service = relay.app.get(WebhookDestinationService);
  const received = () => receiver.webhooks.map(({ headers }) => headers['x-message-id']);

  await waitFor(() => received().includes('waiting'));
  const records = async (state: 'delivered' | 'dead') =>
    (await service.deliveries({ state })).map(({ messageId, attempts }) => [messageId, attempts.length]);
  await waitFor(async () => (await records('delivered')).length === 2);
  expect(await records('delivered')).toEqual(expect.arrayContaining([['delivered', 1], ['waiting', 2]])); // prettier-ignore
  expect(await records('dead')).toEqual([['dead', 1]]);

  expect(received()).not.toContain('queued'); // its destination is paused
  await service.destinations.update('stored', { urls, sharedSecret: 'a secret of the stored destination' });
  await service.destinations.resume('stored');
  await waitFor(() => received().includes('queued'));
  const webhook = receiver.webhooks.find(({ headers }) => headers['x-message-id'] === 'queued')!;
  expect(webhook.headers['webhook-id']).toBe('customer:queued');
  expect(verifyStandardWebhook(webhook.raw, webhook.headers, 'a secret of the stored destination')).toBe(true);

  expect(await service.replay({ state: 'dead' })).toBe(1);
  await waitFor(() => received().includes('dead'));
  await service.accept('wk_customer', [{ type: 'track', userId: 'u1', event: 'New', messageId: 'new' }]);
  await waitFor(() => received().includes('new'));
  expect(received().sort()).toEqual(['dead', 'new', 'queued', 'waiting']);
}

it('There are fixtures of this version: node scripts/release-fixtures.mjs writes them', () => {
  expect(releases).toContain(VERSION);
});

it.each(releases)('What %s has stored in a SQLite file is delivered', async (release) => {
  const folder = await temporaryFolder(cleanUp);
  mkdirSync(folder.path(''), { recursive: true });
  const path = folder.path('relay.db');
  copyFileSync(`${FIXTURES}/${release}/relay.db`, path);
  await deliverAll(sqliteQueue({ path, retention }));
});

await describeOnEach([redisStore], (store) => {
  it.each(releases)('What %s has stored in Redis is delivered', async (release) => {
    const { options, remove } = store.create();
    cleanUp(remove);
    const redis = new Redis(REDIS_URL);
    cleanUp(() => redis.disconnect());
    const lines = readFileSync(`${FIXTURES}/${release}/redis.jsonl`, 'utf8').replaceAll(PREFIX, options.prefix!);
    for (const line of lines.trim().split('\n')) {
      const [command = '', ...args] = JSON.parse(line) as string[];
      await redis.call(command, ...args);
    }
    await deliverAll(sharedQueue({ ...options, retention }));
  });

  it('Keys of another version in Redis are refused, and stay as they are', async () => {
    const { options, remove } = store.create();
    cleanUp(remove);
    const redis = new Redis(REDIS_URL);
    cleanUp(() => redis.disconnect());
    await redis.set(`${options.prefix}:{layout}`, 1000);
    await expect(sharedQueue(options)().open()).rejects.toThrow(
      /have layout 1000, from another version of this package; this one has layout \d+: install/,
    );
    expect(await redis.keys(`${options.prefix}:*`)).toEqual([`${options.prefix}:{layout}`]);
  });
});

await describeOnEach([postgresStore], (store) => {
  it.each(releases)('What %s has stored in PostgreSQL is delivered', async (release) => {
    const { options, remove } = store.create();
    cleanUp(remove);
    await queryPostgres(
      readFileSync(`${FIXTURES}/${release}/postgres.sql`, 'utf8').replaceAll(PREFIX, options.prefix!),
    );
    await deliverAll(sharedQueue({ ...options, retention }));
  });
});
