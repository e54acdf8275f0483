import { setImmediate } from 'node:timers/promises';

import { memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onFastify } from '../../../support/platforms.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { waitFor } from '../../../support/wait-for.js';
import { startApi, track } from './support.js';

interface Figures {
  lastSeenAt: number | null;
  accepted: number;
  refused: Record<string, number>;
  points: { at: number; accepted: number; refused: number }[];
}

describe.each(onFastify)('Figures of sources and destinations on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  const post = (host: string, writeKey: string, body: unknown) =>
    fetch(`${host}/v1/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(`${writeKey}:`)}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it('say when a source last sent something, how much, and why it was refused; also after a restart', async () => {
    const folder = await temporaryFolder(cleanUp);
    const start = () =>
      startApi(cleanUp, createAdapter(), {
        options: {
          sources: [
            { name: 'shop', writeKey: 'wk_shop' },
            { name: 'idle', writeKey: 'wk_idle' },
          ],
          queue: sqliteQueue({ path: folder.path('relay.db') }),
          ingest: { rateLimit: { limit: 3, ttl: 60_000 } },
        },
      });
    const before = Date.now();
    const first = await start();
    const statuses = [
      await post(first.host, 'wk_shop', { batch: [track('m1'), track('m2'), { type: 'track', userId: 'u1' }] }),
      await post(first.host, 'wk_shop', '{'),
      await post(first.host, 'wk_shop', { batch: [track('m3')] }),
      await post(first.host, 'wk_shop', { batch: [track('m4')] }),
      await post(first.host, 'wk_nobody', { batch: [] }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 400, 200, 429, 401]);
    const figuresOf = async ({ get }: typeof first, name: string) =>
      (await get(`sources/${name}?figures=true`)).figures as Figures;
    const refusals = (await first.get('refusals/keyless')) as unknown as Figures;
    expect([refusals.refused, refusals.accepted]).toEqual([{ write_key_unknown: 1 }, 0]);
    const shop = await figuresOf(first, 'shop');
    expect(shop).toMatchObject({ accepted: 3, refused: { rate_limited: 1 } });
    expect(Object.values(shop.refused)).toEqual([1, 1, 1]);
    expect(shop.lastSeenAt).toBeGreaterThanOrEqual(before);
    expect(shop.points.reduce((sum, { refused }) => sum + refused, 0)).toBe(3);
    expect(await figuresOf(first, 'idle')).toEqual({
      lastSeenAt: null,
      accepted: 0,
      duplicate: 0,
      refused: {},
      interval: 600_000,
      points: [],
    });
    await first.app.close();

    const second = await start();
    await second.relay.accept('wk_shop', [track('m5')]);
    expect(await figuresOf(second, 'shop')).toMatchObject({ accepted: 4, refused: shop.refused });
    const { sources } = await second.get('sources?figures=true');
    expect(sources).toMatchObject([
      { name: 'idle', figures: { lastSeenAt: null } },
      { name: 'shop', figures: { accepted: 4 } },
    ]);
    expect(JSON.stringify(await second.get('sources'))).not.toContain('figures');
    expect((await second.json('GET', 'sources?figures=all')).status).toBe(400);
  });

  it('come with at most 50 entries, one page at a time and a few entries at once', async () => {
    const queue = memoryQueue()();
    const names = Array.from({ length: 40 }, (_, index) => `shop-${index}`);
    const { get, json } = await startApi(cleanUp, createAdapter(), {
      options: { queue: () => queue, sources: names.map((name) => ({ name, writeKey: `wk_${name}` })) },
    });
    let reading = 0;
    let most = 0;
    const read = queue.series.read.bind(queue.series);
    vi.spyOn(queue.series, 'read').mockImplementation(async (...asked) => {
      most = Math.max(most, ++reading);
      await setImmediate();
      reading--;
      return read(...asked);
    });
    const pages = ['sources', 'sources', 'destinations'].map((path) => get(`${path}?figures=true&limit=50`));
    expect((await Promise.all(pages))[0]!.sources).toHaveLength(40);
    expect(most).toBe(16);
    for (const path of ['sources', 'destinations']) {
      const { status, answer } = await json('GET', `${path}?figures=true&limit=51`);
      expect([status, answer.message]).toEqual([400, expect.stringContaining('from 1 to 50 with figures')]);
      expect((await json('GET', `${path}?limit=500`)).status).toBe(200);
    }
  });

  it('count the deliveries of a destination, its outcomes of the last hour, and say whether it is down', async () => {
    const { get, relay, receiver } = await startApi(cleanUp, createAdapter(), {
      options: { delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000, concurrency: 20 } },
    });
    const figures = async () => (await get('destinations/Webhooks?figures=true')).figures as Record<string, unknown>;
    const none = (value: number | null) => Array<number | null>(12).fill(value);
    expect(await figures()).toEqual({
      counts: {},
      down: false,
      recent: { minutes: 60, delivered: 0, failed: 0, dead: 0 },
      health: 'idle',
      p50: null,
      p95: null,
      perMinute: 0,
      trend: { delivered: none(0), failed: none(0), p95: none(null) },
    });
    receiver.statuses = [200];
    await relay.accept('wk_shop', [track('m0')]);
    await receiver.received(1);
    receiver.statuses = [404];
    await relay.accept('wk_shop', [track('m1')]);
    await receiver.received(2);
    receiver.statuses = [500];
    await relay.accept(
      'wk_shop',
      Array.from({ length: 10 }, (_, index) => track(`d${index}`)),
    );
    await waitFor(async () => {
      const { recent, counts } = (await figures()) as Record<string, Record<string, number>>;
      return recent!.failed === 11 && counts!.waiting === 10;
    });
    expect(await figures()).toMatchObject({
      counts: { delivered: 1, dead: 1, waiting: 10 },
      down: true,
      recent: { delivered: 1, dead: 1 },
      health: 'degraded',
      p50: expect.any(Number),
      p95: expect.any(Number),
      perMinute: expect.closeTo(0.2, 1), // of whole minutes
    });
    const { trend } = (await figures()) as { trend: Record<string, number[]> };
    const sum = (values: number[]) => values.reduce((one, other) => one + other);
    expect([sum(trend.delivered!), sum(trend.failed!)]).toEqual([1, 11]);
    expect((await get('destinations?figures=true')).destinations).toMatchObject([{ figures: { down: true } }]);
  });

  it('say that a destination fails of which every delivery dies, in an attempt or before it', async () => {
    const urls = ['http://127.0.0.1:9/'];
    const transform = () => {
      throw new Error('no such field');
    };
    const { get, relay, receiver } = await startApi(cleanUp, createAdapter(), {
      options: { destinations: [{ name: 'Broken', urls, transform }] },
    });
    await relay.accept('wk_shop', [track('m1'), track('m2')]);
    await waitFor(async () => (await relay.stats()).some(({ state, count }) => state === 'dead' && count === 2));
    const { figures } = await get('destinations/Broken?figures=true');
    expect(figures).toMatchObject({ down: false, health: 'failing', recent: { failed: 0, dead: 2 } });
    expect(receiver.webhooks).toEqual([]);
  });
});
