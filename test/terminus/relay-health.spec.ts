import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Worker } from 'node:worker_threads';

import type { INestApplication } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import Database from 'libsql';
import { memoryQueue, type QueueCondition, sqliteQueue } from 'nestjs-analytics-relay';
import { RelayHealthIndicator, type RelayHealthOptions } from 'nestjs-analytics-relay/terminus';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { askHealth, type HealthAnswer, healthMetadata, untilHealth } from '../support/health.app.js';
import { newDelivery } from '../support/new-delivery.js';
import { onExpress } from '../support/platforms.js';
import { post } from '../support/post.js';
import { type RelayAppOptions, startRelayApp } from '../support/relay.app.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';

/** Longest time until the loss of a store shows, in ms. */
const LIMIT = 2_000;

/** Terminus 11 has no state beside up and down. */
const knowsDegraded = 'degraded' in HealthIndicatorService.prototype.check.call({}, 'any');

const degraded = (...reasons: unknown[]) =>
  knowsDegraded
    ? { status: 'degraded', details: { relay: { status: 'degraded', reasons } } }
    : { status: 'ok', details: { relay: { status: 'up', degraded: true, reasons } } };

describe.each(onExpress)('RelayHealthIndicator on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start(bounds?: RelayHealthOptions, given: RelayAppOptions = {}) {
    const started = await startRelayApp(afterwards, createAdapter(), { ...given, metadata: healthMetadata(bounds) });
    const track = (...ids: string[]) =>
      post(`${started.host}/v1/batch`, {
        batch: ids.map((messageId) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId })),
      });
    return { ...started, track };
  }

  it('is up while the queue can be written and no bound is passed', async () => {
    const { host, track, receiver } = await start({ oldestWaiting: 60_000, dead: 0, freeDisk: 1 });
    await track('m1');
    await receiver.received(1);
    expect(await askHealth(host)).toMatchObject({
      status: 200,
      body: { status: 'ok', details: { relay: { status: 'up' } } },
    });
  });

  it('is down within 2 s after the SQLite file is gone, and up again once it is back', async () => {
    const folder = await temporaryFolder(afterwards);
    const path = folder.path('data/relay.db');
    const { host } = await start({}, { options: { queue: sqliteQueue({ path }) } });
    await untilHealth(host, 200);
    renameSync(dirname(path), folder.path('gone'));
    const { body } = await untilHealth(host, 503, LIMIT);
    const message = expect.stringContaining(
      `SQLite queue ${path}: the file was removed or replaced while it is open. `,
    );
    expect(body).toMatchObject({ status: 'error', error: { relay: { status: 'down', message } } });
    renameSync(folder.path('gone'), dirname(path));
    await untilHealth(host, 200, LIMIT);
  });

  it('is down within 2 s after the thread of the SQLite file has ended, and up once it runs again', async () => {
    const folder = await temporaryFolder(afterwards);
    const data = folder.path('data');
    const create = sqliteQueue({ path: `${data}/relay.db` });
    let queue!: ReturnType<typeof create>;
    const { host } = await start({}, { options: { queue: () => (queue = create()) } });
    renameSync(data, folder.path('gone'));
    writeFileSync(data, ''); // so that the thread cannot be started again
    const { worker } = (queue as unknown as { store: { thread: { worker: Worker } } }).store.thread;
    await worker.terminate();
    const { body } = await untilHealth(host, 503, LIMIT);
    expect(body.error).toMatchObject({
      relay: { message: expect.stringMatching(/its thread has ended|not a folder/) },
    });
    rmSync(data);
    renameSync(folder.path('gone'), data);
    await untilHealth(host, 200);
  });

  it('is degraded, and never down, while a receiver is dead', async () => {
    const delivery = { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000, maxRetryDelay: 60_000 };
    const { host, track, receiver } = await start({ oldestWaiting: 0 }, { options: { delivery } });
    await receiver.stop();
    const ids = Array.from({ length: 100 }, (_, index) => `m${index}`);
    expect((await track(...ids)).status).toBe(200);
    const answers: HealthAnswer[] = [];
    await waitFor(async () => {
      answers.push(await askHealth(host));
      const text = JSON.stringify(answers.at(-1));
      return text.includes('destinations down: 1') && text.includes('oldest waiting');
    });
    const age = expect.stringMatching(/^oldest waiting delivery: \d+ s \(bound: 0 s\)$/);
    expect(answers.at(-1)!.body).toMatchObject(degraded('destinations down: 1', age));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('is degraded by dead deliveries and a disk that is nearly full', async () => {
    const { host, track, receiver, relay } = await start({ dead: 1, freeDisk: Number.MAX_SAFE_INTEGER });
    const space = expect.stringMatching(/^free disk space: \d+ bytes \(bound: 9007199254740991 bytes\)$/);
    receiver.statuses = [400];
    await track('m1', 'm2');
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 2);
    expect((await askHealth(host)).body).toMatchObject(degraded('dead deliveries: 2 (bound: 1)', space));
  });

  it('is degraded while there are dead deliveries that cannot be read', async () => {
    const folder = await temporaryFolder(afterwards);
    const path = folder.path('relay.db');
    const create = sqliteQueue({ path });
    const queue = create();
    await queue.open();
    await queue.add([newDelivery('m1')]);
    await queue.close();
    const db = new Database(path);
    db.exec(`UPDATE batch SET items = '['`);
    db.close();
    const { host, relay } = await start({}, { options: { queue: create } });
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
    const reason = 'dead deliveries that cannot be read: 1; purge them once you know why';
    expect((await askHealth(host)).body).toMatchObject(degraded(reason));
    await relay.purge({ state: 'dead' });
    expect(JSON.stringify(await askHealth(host))).not.toContain('cannot be read');
  });

  it('judges each check by its own bounds, though they share what they read', async () => {
    const { app, track, receiver, relay } = await start();
    receiver.statuses = [400];
    await track('m1', 'm2');
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 2);
    const indicator = app.get(RelayHealthIndicator, { strict: false });
    const checks = [0, 1, 2].map((dead) => indicator.isHealthy('relay', { dead }));
    expect((await Promise.all(checks)).map(({ relay: { reasons } }) => reasons as unknown)).toEqual([
      ['dead deliveries: 2 (bound: 0)'],
      ['dead deliveries: 2 (bound: 1)'],
      undefined,
    ]);
  });

  it('is degraded while the queue is full', async () => {
    const folder = await temporaryFolder(afterwards);
    const queue = sqliteQueue({ path: folder.path('relay.db'), maxBytes: 16 * 1024 * 1024 });
    const { host, receiver } = await start({}, { options: { queue } });
    await receiver.stop();
    const fill = (index: number) => {
      const properties = { text: 'x'.repeat(24_000) };
      const batch = Array.from({ length: 20 }, (_, at) => ({
        type: 'track',
        userId: 'u1',
        event: 'Ordered',
        messageId: `m${index}-${at}`,
        properties,
      }));
      return post(`${host}/v1/batch`, { batch });
    };
    for (let index = 0; (await fill(index)).status === 200; index++);
    expect(await askHealth(host)).toMatchObject({ status: 200 });
    expect(JSON.stringify(await askHealth(host))).toContain('the queue is full: it has reached maxBytes');
  });

  it('is down within 2 s while the queue of an application hangs, and asks it once', async () => {
    let checks = 0;
    let release: (condition: QueueCondition) => void = () => undefined;
    const create = memoryQueue();
    const queue = () =>
      Object.assign(create(), {
        check: () => {
          checks++;
          return new Promise<QueueCondition>((resolve) => (release = resolve));
        },
      });
    const { host } = await start({}, { options: { queue } });
    const [answer] = await Promise.all([askHealth(host), askHealth(host)]);
    expect(answer.body.error).toMatchObject({
      relay: { status: 'down', message: 'a write to the queue took longer than 1.5 s' },
    });
    expect([answer.status, answer.duration < LIMIT, checks]).toEqual([503, true, 1]);
    release({ isFull: false, freeDisk: undefined, unreadable: 0 });
    const pending = askHealth(host);
    await waitFor(() => checks === 2);
    release({ isFull: false, freeDisk: undefined, unreadable: 0 });
    expect((await pending).status).toBe(200);
  });
});

describe('RelayHealthIndicator', () => {
  const afterwards = useCleanUps();

  async function create(): Promise<{ app: INestApplication; indicator: RelayHealthIndicator }> {
    const testing = await Test.createTestingModule(healthMetadata()).compile();
    const app = testing.createNestApplication({ logger: false });
    await app.init();
    afterwards(() => app.close());
    return { app, indicator: app.get(RelayHealthIndicator) };
  }

  it('is down in an application without a relay', async () => {
    const { indicator } = await create();
    expect(await indicator.isHealthy('queue')).toEqual({
      queue: { status: 'down', message: 'the application has no WebhookDestinationModule' },
    });
  });

  it('refuses bounds that break a rule, by field and rule', async () => {
    const { indicator } = await create();
    const bounds = { oldestWaiting: -1, dead: 0.5, freeDisk: NaN, old: 1 } as RelayHealthOptions;
    await expect(indicator.isHealthy('relay', bounds)).rejects.toMatchObject({
      name: 'OptionsError',
      faults: expect.arrayContaining([
        'oldestWaiting must be a whole number of ms, 0 or above',
        'dead must be a whole number, 0 or above',
        'freeDisk must be a whole number of bytes, 0 or above',
        'old is not a known option',
      ]),
    });
  });
});
