import { randomUUID } from 'node:crypto';

import { AnalyticsModule, AnalyticsService, memoryQueue, QueueFullError, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onExpress } from '../../../support/platforms.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { waitFor } from '../../../support/wait-for.js';
import { readStream, startApi, track } from './support.js';

describe.each(onExpress)('What the API says of the relay on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  it('is how it does now: counts, rates, the oldest delivery and what is down', async () => {
    const { get, relay, receiver } = await startApi(cleanUp, createAdapter(), {
      options: { delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000, concurrency: 20 } },
      metadata: { imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop' })] },
    });
    expect(await get('overview')).toMatchObject({
      counts: {},
      destinations: [],
      open: 0,
      oldestAcceptedAt: null,
      down: 0,
    });
    const before = Date.now();
    await relay.accept('wk_shop', [track('m0'), { type: 'track' }]);
    await receiver.received(1);
    receiver.statuses = [500];
    await relay.accept(
      'wk_shop',
      Array.from({ length: 10 }, (_, index) => track(`m${index + 1}`)),
    );
    await receiver.received(11);
    await waitFor(async () => {
      const { recent, counts } = await get('overview');
      return (
        recent.failed! === 10 &&
        Object.keys(counts as object)
          .sort()
          .join() === 'delivered,waiting'
      );
    });
    const overview = await get('overview');
    expect(overview).toMatchObject({
      access: 'write',
      counts: { delivered: 1, waiting: 10 },
      destinations: [{ destination: 'Webhooks', down: true, counts: { delivered: 1, waiting: 10 } }],
      others: { destinations: 0, counts: {} },
      open: 10,
      recent: { accepted: 11, rejected: 1, duplicate: 0, delivered: 1, failed: 10, dead: 0 },
      down: 1,
      process: { lostBeforeIngest: 0 },
    });
    expect(overview.oldestAcceptedAt).toBeGreaterThanOrEqual(before);
  });

  it('is at most 20 KB with 5,000 destinations: the 25 that most need attention, and sums of the others', async () => {
    const queue = memoryQueue()();
    const names = Array.from({ length: 5_000 }, (_, index) => `customer ${index}, ${randomUUID()}`);
    queue.counts = () =>
      Promise.resolve(
        names.flatMap((destination, index) => [
          { destination, state: 'delivered' as const, count: 1_000 },
          { destination, state: 'dead' as const, count: 1 + (index % 100) },
          { destination, state: 'waiting' as const, count: 1 },
        ]),
      );
    const { ask, get } = await startApi(cleanUp, createAdapter(), { options: { queue: () => queue } });
    expect((await (await ask('GET', 'overview')).arrayBuffer()).byteLength).toBeLessThan(20_000);
    const { counts, destinations, others, open } = await get('overview');
    expect(counts).toEqual({ delivered: 5_000_000, dead: 50 * 5_050, waiting: 5_000 });
    const shown = destinations as { counts: object }[];
    expect(shown.map((row) => row.counts)).toEqual(Array(25).fill({ delivered: 1_000, dead: 100, waiting: 1 }));
    const left = { delivered: 4_975_000, dead: 50 * 5_050 - 2_500, waiting: 4_975 };
    expect([others, open]).toEqual([{ destinations: 4_975, counts: left }, 5_000]);
  });

  it('counts a repeated message apart from accepted ones, unless a destination gets it for the first time', async () => {
    const name = ['crm', 'late'] as const;
    const { relay, get, receiver } = await startApi(cleanUp, createAdapter(), {
      options: { destinations: [], registry: 'store' },
    });
    const add = (index: number) =>
      relay.destinations.create({ name: name[index]!, urls: [receiver.url], sources: ['shop'] });
    await add(0);
    const send = async (...ids: string[]) =>
      relay.accept(
        'wk_shop',
        ids.map((id) => track(id)),
      );
    expect(await send('m1', 'm2', 'm1')).toEqual({ accepted: 3, rejected: [] });
    await send('m2');
    expect((await get('overview')).recent).toMatchObject({ accepted: 2, duplicate: 2 });
    await add(1);
    await send('m1'); // new to one of its destinations
    await send('m1');
    await receiver.received(3);
    await waitFor(async () => (await get('overview')).recent.delivered === 3);
    expect((await get('overview')).recent).toMatchObject({ accepted: 3, duplicate: 3 });
    const ofSource = (await get('sources/shop?figures=true')).figures as Record<string, number>;
    expect(ofSource).toMatchObject({ accepted: 3, duplicate: 3 });
    const sum = async (query: string) =>
      (await get(`timeseries?metric=duplicate${query}`)).points.reduce((all, { duplicate }) => all + duplicate!, 0);
    expect([await sum(''), await sum('&destination=crm'), await sum('&destination=late')]).toEqual([3, 4, 1]);
  });

  it('shows a repeated message as such, live and in explain, with the destinations that get it or not', async () => {
    const { relay, ask, json, receiver } = await startApi(cleanUp, createAdapter(), {
      options: { destinations: [], registry: 'store' },
    });
    const add = (name: string) => relay.destinations.create({ name, urls: [receiver.url] });
    const { events } = await readStream(await ask('GET', 'events?messageId=m1'));
    const late = await readStream(await ask('GET', 'events?kind=duplicate&destination=late'));
    const accept = () => relay.accept('wk_shop', [track('m1')]);
    const explain = async () => {
      const { answer } = await json('POST', 'explain', { body: { message: track('m1') } });
      return (answer.destinations as { destination: string; repeated?: boolean }[]).map((destination) => [
        destination.destination,
        destination.repeated,
      ]);
    };
    await add('crm');
    expect(await explain()).toEqual([['crm', undefined]]);
    await accept();
    expect(await explain()).toEqual([['crm', true]]);
    await accept();
    await add('late');
    expect(await explain()).toEqual([
      ['late', undefined],
      ['crm', true],
    ]);
    await accept();
    await accept();
    const shown = () => events.filter(({ name }) => name === 'message' || name === 'duplicate');
    await waitFor(() => shown().length === 4 && late.events.length === 2);
    expect(shown().map(({ name, data }) => [name, data.destinations, data.repeated])).toEqual([
      ['message', ['crm'], undefined],
      ['duplicate', [], ['crm']],
      ['message', ['late'], ['crm']],
      ['duplicate', [], ['crm', 'late']],
    ]);
    expect(late.events[1]!.data).toMatchObject({ kind: 'duplicate', messageId: 'm1', event: 'Ordered', userId: 'u1' });
  });

  it('counts refused requests as rejections: an unknown key, a full queue, a body that is too large', async () => {
    const queue = memoryQueue()();
    const { get, host } = await startApi(cleanUp, createAdapter(), { options: { queue: () => queue } });
    const statuses: number[] = [];
    const send = async (fields: object, key = 'wk_shop') => {
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
      const body = JSON.stringify({ ...track('m1'), ...fields });
      statuses.push((await fetch(`${host}/v1/track`, { method: 'POST', headers, body })).status);
    };
    await send({}, 'wk_wrong');
    vi.spyOn(queue, 'add').mockRejectedValueOnce(new QueueFullError('the queue is full'));
    await send({});
    await send({ properties: { text: 'x'.repeat(600_000) } });
    expect(statuses).toEqual([401, 503, 413]);
    expect((await get('overview')).recent).toMatchObject({ accepted: 0, rejected: 3 });
    const { points } = await get('timeseries?metric=rejected');
    expect(points.reduce((sum, { rejected }) => sum + rejected!, 0)).toBe(3);
  });

  it('counts what in-process recording lost before ingest', async () => {
    const { app, get } = await startApi(cleanUp, createAdapter(), {
      metadata: { imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', maxQueueSize: 1 })] },
    });
    const analytics = app.get(AnalyticsService);
    for (let index = 0; index < 3; index++) analytics.track({ userId: 'u1', event: 'Ordered' });
    await analytics.flush();
    expect(await get('overview')).toMatchObject({ process: { lostBeforeIngest: 2 } });
  });

  it('is a series by the minute, of each destination, which is right after a restart', async () => {
    const folder = await temporaryFolder(cleanUp);
    const start = () =>
      startApi(cleanUp, createAdapter(), { options: { queue: sqliteQueue({ path: folder.path('relay.db') }) } });
    const first = await start();
    await first.relay.accept('wk_shop', [track('m1'), track('m2'), { type: 'none' }]);
    await waitFor(async () => (await first.get('overview')).recent.delivered! === 2);
    const sums = (points: Record<string, number>[], field: string) =>
      points.reduce((sum, point) => sum + point[field]!, 0);
    const { points } = await first.get('timeseries');
    expect(['accepted', 'rejected', 'delivered'].map((field) => sums(points, field))).toEqual([2, 1, 2]);
    await first.app.close();

    const second = await start();
    await second.relay.accept('wk_shop', [track('m3')]);
    await waitFor(async () => (await second.get('overview')).recent.delivered! === 3);
    const all = (await second.get('timeseries')).points;
    expect(['accepted', 'rejected', 'delivered'].map((field) => sums(all, field))).toEqual([3, 1, 3]);
    const own = (await second.get('timeseries?destination=Webhooks&metric=delivered')).points;
    expect([sums(own, 'delivered'), own[0]!.accepted]).toEqual([3, undefined]);
    expect(all.every(({ at, p50, p95 }) => at! % 60_000 === 0 && p50! > 0 && p95! >= p50!)).toBe(true);
    expect((await second.get('timeseries?destination=None')).points).toEqual([]);
    expect((await second.get(`timeseries?to=${Date.now() - 3_600_000}`)).points).toEqual([]);
    for (const query of ['metric=all', 'from=2&to=1', 'since=1']) {
      expect((await second.json('GET', `timeseries?${query}`)).status).toBe(400);
    }
  });

  it('is what happens, as it happens, by filters; streams end before the application closes', async () => {
    const { ask, relay, app, receiver } = await startApi(cleanUp, createAdapter());
    const response = await ask('GET', 'events');
    expect(['content-type', 'cache-control', 'x-accel-buffering'].map((name) => response.headers.get(name))).toEqual([
      'text/event-stream; charset=utf-8',
      'no-cache, no-store, no-transform',
      'no',
    ]);
    const all = await readStream(response);
    const dead = await readStream(await ask('GET', 'events?kind=dead&destination=Webhooks'));
    expect(all.events[0]).toMatchObject({ name: 'hello', data: { scope: 'process' } });
    receiver.statuses = [404, 200];
    await relay.accept('wk_shop', [track('m1', { event: 'a\n\nevent: b' }), { type: 'track', messageId: 'bad' }]);
    await receiver.received(1);
    await relay.accept('wk_shop', [track('m2')]);
    await waitFor(() => all.events.length === 6 && dead.events.length === 2);
    expect(
      all.events
        .slice(1)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['dead', 'delivered', 'message', 'message', 'rejected']);
    expect(all.events[1]!.data).toMatchObject({
      kind: 'message',
      messageId: 'm1',
      event: 'a\n\nevent: b',
      userId: 'u1',
      destinations: ['Webhooks'],
    });
    expect(dead.events[1]!.data).toMatchObject({ kind: 'dead', messageId: 'm1', reason: expect.any(String) });
    for (const query of ['kind=all', 'userId=']) expect((await ask('GET', `events?${query}`)).status).toBe(400);
    await app.close();
    await waitFor(() => all.hasEnded() && dead.hasEnded());
  });

  /** Watches messages that go nowhere. */
  async function watchMessages() {
    const { ask, relay } = await startApi(cleanUp, createAdapter(), { options: { destinations: [] } });
    const response = await ask('GET', 'events');
    const accept = (count: number, fields?: Record<string, unknown>) =>
      relay.accept(
        'wk_shop',
        Array.from({ length: count }, () => track(randomUUID(), fields)),
      );
    const read = async () => {
      const { events } = await readStream(response);
      return {
        seen: () => events.filter(({ name }) => name === 'message').length,
        missed: () => events.reduce((sum, { name, data }) => sum + (name === 'missed' ? Number(data.count) : 0), 0),
      };
    };
    return { accept, read };
  }

  it('tells a slow reader how many events it missed', async () => {
    const { accept, read } = await watchMessages();
    // Until the socket's buffers are full, which the kernel may make large.
    for (let round = 0; round < 8; round++) await accept(100, { event: 'x'.repeat(20_000) });
    const { seen, missed } = await read();
    await waitFor(() => seen() + missed() === 800);
    expect(missed()).toBeGreaterThan(0);
  });

  it('shows 500 of a burst, counts the others, and goes on', async () => {
    const { accept, read } = await watchMessages();
    const { seen, missed } = await read();
    await accept(800);
    await waitFor(() => seen() + missed() === 800);
    expect(seen()).toBe(500);
    await waitFor(async () => {
      await accept(1);
      return seen() > 500;
    });
  });

  it('is refused to more streams than a process may have', async () => {
    const { ask } = await startApi(cleanUp, createAdapter());
    const streams = await Promise.all(Array.from({ length: 50 }, () => ask('GET', 'events')));
    const refused = await ask('GET', 'events');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    await streams[0]!.body!.cancel();
    await waitFor(async () => {
      const response = await ask('GET', 'events');
      await response.body!.cancel();
      return response.status === 200;
    });
    await Promise.all(streams.slice(1).map((stream) => stream.body!.cancel()));
  });
});
