import { setImmediate } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  type DeliveryQueue,
  type DeliveryQueueFactory,
  memoryQueue,
  type NewDelivery,
  PartlyAcceptedError,
  QueueUnavailableError,
  sqliteQueue,
} from 'nestjs-analytics-relay';
import { NEVER } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';
import { describeOnEach, postgresStore, redisStore } from '../../support/services.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const MAX_DELIVERIES = 2_000;
const MIB = 1024 * 1024;

const track = (messageId: string, bytes = 0) => ({
  type: 'track',
  userId: 'u1',
  event: 'Ordered',
  messageId,
  ...(bytes > 0 && { properties: { padding: 'x'.repeat(bytes) } }),
});
const tracks = (count: number, prefix = 'm') => Array.from({ length: count }, (_, index) => track(`${prefix}${index}`));

beforeEach(() => {
  vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const afterwards = useCleanUps();

/** A relay that delivers nothing. */
async function start(
  destinations: number,
  factory: DeliveryQueueFactory = memoryQueue(),
  adapter: AbstractHttpAdapter = new ExpressAdapter(),
) {
  const queue = factory();
  vi.spyOn(queue, 'consume').mockReturnValue(NEVER);
  const app = await startRelayApp(afterwards, adapter, {
    options: {
      queue: () => queue,
      destinations: Array.from({ length: destinations }, (_, index) => ({
        name: `d${index}`,
        urls: ['https://receiver.example'],
      })),
    },
  });
  const count = async () => (await queue.counts()).reduce((sum, row) => sum + row.count, 0);
  return { ...app, queue, count };
}

/** Holds back what is added to a queue from the call of this number on, until it is let through. */
function holdBack(queue: DeliveryQueue, from = 0) {
  const add = queue.add.bind(queue);
  const held: { deliveries: NewDelivery[]; end: () => void }[] = [];
  let calls = 0;
  vi.spyOn(queue, 'add').mockImplementation(async (deliveries) => {
    if (calls++ >= from) await new Promise<void>((end) => held.push({ deliveries, end }));
    return add(deliveries);
  });
  return held;
}

describe.each<[string, () => AbstractHttpAdapter]>([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('A posted batch for many destinations on %s', (_platform, createAdapter) => {
  it('is stored in portions under one answer, and the event loop serves others between them', async () => {
    const { host, queue, count } = await start(40, memoryQueue(), createAdapter());
    const add = vi.spyOn(queue, 'add');
    let turns = 0;
    const turn = setInterval(() => turns++, 0);
    expect((await post(`${host}/v1/batch`, { batch: tracks(1_000) })).status).toBe(200);
    clearInterval(turn);
    expect(await count()).toBe(40_000);
    const sizes = add.mock.calls.map(([deliveries]) => deliveries.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_DELIVERIES);
    expect(turns).toBeGreaterThanOrEqual(sizes.length);
    const { body } = add.mock.calls[0]![0][0]!;
    const copies = add.mock.calls.flat(2).filter((one) => (one as NewDelivery).messageId === 'm0');
    expect(copies).toHaveLength(40);
    for (const copy of copies) expect((copy as NewDelivery).body).toBe(body);
  });

  it('is answered 503 if a portion cannot be stored, and stored once each when it is posted again', async () => {
    const { host, queue, count } = await start(40, memoryQueue(), createAdapter());
    const add = queue.add.bind(queue);
    const spy = vi.spyOn(queue, 'add').mockImplementation((deliveries) => {
      return spy.mock.calls.length === 3 ? Promise.reject(new QueueUnavailableError('disk full')) : add(deliveries);
    });
    const batch = tracks(500);
    const failed = await post(`${host}/v1/batch`, { batch });
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await failed.json()).toMatchObject({ code: 'queue_unavailable' });
    expect(await count()).toBe(2 * MAX_DELIVERIES);
    expect((await post(`${host}/v1/batch`, { batch })).status).toBe(200);
    expect(await count()).toBe(20_000);
  });
});

describe('accept()', () => {
  it('refuses more than 100,000 messages, and stores none of them', async () => {
    const { relay, count } = await start(1);
    const messages = Array.from({ length: 100_001 }, () => track('m'));
    await expect(relay.accept('wk_shop', messages)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: 'messages must not contain more than 100000 messages; this call has 100001',
    });
    expect(await count()).toBe(0);
  });

  it('names in one result all that is invalid in every portion', async () => {
    const { relay, queue, count } = await start(2);
    const add = vi.spyOn(queue, 'add');
    const messages: unknown[] = tracks(6_000);
    for (const index of [0, 2_999, 5_999]) messages[index] = { type: 'track' };
    const { accepted, rejected } = await relay.accept('wk_shop', messages);
    expect([accepted, rejected.map(({ index }) => index)]).toEqual([5_997, [0, 2_999, 5_999]]);
    expect(await count()).toBe(2 * 5_997);
    expect(add.mock.calls.length).toBeGreaterThan(2);
  });

  it('lets the event loop serve others where no destination takes the messages', async () => {
    const { relay } = await start(0);
    let turns = 0;
    const turn = setInterval(() => turns++, 0);
    expect(await relay.accept('wk_shop', tracks(20_000))).toEqual({ accepted: 20_000, rejected: [] });
    clearInterval(turn);
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it('says how much is stored if the queue fails between portions, and stores the rest when it is called again', async () => {
    const { relay, queue, count } = await start(1);
    const add = queue.add.bind(queue);
    const spy = vi.spyOn(queue, 'add').mockImplementation((deliveries) => {
      return spy.mock.calls.length === 2 ? Promise.reject(new QueueUnavailableError('disk full')) : add(deliveries);
    });
    const messages = tracks(6_000);
    const error = await relay.accept('wk_shop', messages).catch((reason: unknown) => reason as PartlyAcceptedError);
    expect(error).toBeInstanceOf(PartlyAcceptedError);
    expect(error).toMatchObject({ code: 'partly_accepted', accepted: 1_792 }); // whole groups of 256
    expect((error as Error).message).toMatch(/^at least 1792 of 6000 messages are stored, but not all \(disk full\)/);
    expect(await count()).toBe(MAX_DELIVERIES);
    expect(await relay.accept('wk_shop', messages)).toEqual({ accepted: 6_000, rejected: [] });
    expect(await count()).toBe(6_000);
  });

  it('stores large messages in portions of 8 MiB', async () => {
    const { relay, queue, count } = await start(40);
    const add = vi.spyOn(queue, 'add');
    const messages = Array.from({ length: 20 }, (_, index) => track(`m${index}`, 30_000));
    expect(await relay.accept('wk_shop', messages)).toEqual({ accepted: 20, rejected: [] });
    expect(await count()).toBe(800);
    const sizes = add.mock.calls.map(([deliveries]) => deliveries.reduce((sum, { body }) => sum + body.length, 0));
    // The last delivery of a portion may exceed its size.
    for (const size of sizes) expect(size).toBeLessThan(8 * MIB + 32 * 1024);
  });

  it('rejects with the error of the queue if nothing is stored', async () => {
    const { relay, queue, count } = await start(1);
    const failure = new QueueUnavailableError('disk full');
    vi.spyOn(queue, 'add').mockRejectedValueOnce(failure);
    await expect(relay.accept('wk_shop', tracks(6_000))).rejects.toBe(failure);
    expect(await count()).toBe(0);
  });

  it('stores a small call between the portions of a large one', async () => {
    const { relay, queue } = await start(10);
    const held = holdBack(queue, 1);
    const large = relay.accept('wk_shop', tracks(500));
    await waitFor(() => held.length === 1);
    const small = relay.accept('wk_shop', [track('small')]);
    await waitFor(() => held.length === 2);
    held[1]!.end();
    expect(await small).toEqual({ accepted: 1, rejected: [] });
    held[0]!.end();
    for (let next = 2; next < 3; next++) {
      await waitFor(() => held.length > next);
      held[next]!.end();
    }
    expect(await large).toEqual({ accepted: 500, rejected: [] });
  });
});

describe('While the queue is slow', () => {
  it('all requests together hold 32 MiB, as many wait, and others are refused with nothing stored', async () => {
    const { host, relay, queue } = await start(8);
    const held = holdBack(queue);
    const large = (id: number) => Array.from({ length: 16 }, (_, index) => track(`m${id}-${index}`, 30_000));
    const accepted = Array.from({ length: 16 }, (_, id) => relay.accept('wk_shop', large(id)));
    await waitFor(() => held.length === 8);
    const refused = await post(`${host}/v1/batch`, { batch: large(16) });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    await expect(relay.accept('wk_shop', large(17))).rejects.toThrow('deliveries of 32 MiB are being stored');
    const bytes = held.flatMap(({ deliveries }) => deliveries).reduce((sum, { body }) => sum + body.length, 0);
    expect(bytes).toBeGreaterThan(24 * MIB);
    expect(bytes).toBeLessThan(32 * MIB);
    for (let next = 0; next < 16; next++) {
      await waitFor(() => held.length > next);
      held[next]!.end();
    }
    for (const result of await Promise.all(accepted)) expect(result).toEqual({ accepted: 16, rejected: [] });
    expect(held).toHaveLength(16);
  });

  it('a request of which a portion is stored waits for the others, however many wait', async () => {
    const { relay, queue, count } = await start(8);
    const held = holdBack(queue);
    const large = (prefix: string, length: number) =>
      Array.from({ length }, (_, index) => track(`${prefix}-${index}`, 30_000));
    const begun = relay.accept('wk_shop', [...tracks(256), ...large('begun', 40)]);
    await waitFor(() => held.length === 1);
    const others = Array.from({ length: 16 }, (_, id) => relay.accept('wk_shop', large(`other${id}`, 16)));
    await waitFor(() => held.length === 9);
    await expect(relay.accept('wk_shop', large('refused', 16))).rejects.toThrow('and as many wait');
    held[0]!.end();
    await waitFor(async () => (await count()) === MAX_DELIVERIES);
    for (let turn = 0; turn < 3; turn++) await setImmediate(); // its next portion asks for room
    const release = setInterval(() => held.forEach(({ end }) => end()), 1);
    afterwards(() => clearInterval(release));
    expect(await begun).toEqual({ accepted: 296, rejected: [] });
    for (const result of await Promise.all(others)) expect(result).toEqual({ accepted: 16, rejected: [] });
  });
});

describe('Large calls of accept() on SQLite', () => {
  it('are stored with every body, also after a restart', async () => {
    const folder = await temporaryFolder(afterwards);
    const { relay, queue, count } = await start(30, sqliteQueue({ path: folder.path('relay.db') }));
    expect(await relay.accept('wk_shop', tracks(400))).toEqual({ accepted: 400, rejected: [] });
    expect(await relay.accept('wk_shop', tracks(401))).toEqual({ accepted: 401, rejected: [] });
    expect(await count()).toBe(30 * 401);
    await queue.close();
    await queue.open();
    for (const destination of ['d0', 'd29']) {
      const records = await queue.list({ destination }, { limit: 1_000 });
      const ids = records.map(({ messageId }) => messageId).sort();
      expect(ids).toEqual(
        tracks(401)
          .map(({ messageId }) => messageId)
          .sort(),
      );
      expect(records[0]!.body).toContain('"event":"Ordered"');
      expect(new Set(records.map(({ body }) => body.length)).size).toBe(1);
    }
  });
});

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`Large calls of accept() on ${store.name}`, () => {
    it('are stored in portions', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const { relay, queue, count } = await start(2, sharedQueue(options));
      const add = vi.spyOn(queue, 'add');
      expect(await relay.accept('wk_shop', tracks(1_500))).toEqual({ accepted: 1_500, rejected: [] });
      expect(await count()).toBe(3_000);
      expect(add.mock.calls.map(([deliveries]) => deliveries.length)).toEqual([2_000, 1_000]);
    });
  });
});
