import { createRequire } from 'node:module';

import { type DeliveryPortion, type DeliveryRecord, memoryQueue, QueueFullError } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onFastify } from '../../../support/platforms.js';
import { waitFor } from '../../../support/wait-for.js';
import { followAudit, READ_TOKEN, startApi, track } from './support.js';

describe.each(onFastify)('Deliveries by the API on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  /** With three deliveries that the receiver refused, and one that it took. */
  async function startWithDead() {
    const api = await startApi(cleanUp, createAdapter(), { destination: { sharedSecret: 'first-s3cret' } });
    api.receiver.statuses = [404, 404, 404, 200];
    for (const id of ['m1', 'm2', 'm3', 'm4']) {
      const event = id === 'm2' ? 'Paid' : 'Ordered';
      await api.relay.accept('wk_shop', [track(id, { event, userId: id === 'm3' ? 'u2' : 'u1' })]);
      await api.receiver.received(Number(id.slice(1)));
    }
    await waitFor(async () => (await api.relay.deliveries({ state: 'dead' })).length === 3);
    await waitFor(async () => (await api.relay.deliveries({ state: 'delivered' })).length === 1);
    const audit = followAudit(api.relay);
    const changes = () => audit.filter(({ action }) => action !== 'change.failed');
    return { ...api, changes };
  }

  it('are found by each field, in portions with a cursor', async () => {
    const { get, find, relay } = await startWithDead();
    const ids = async (query: string) => (await find(query)).map(({ messageId }) => messageId);
    expect(await ids('')).toEqual(['m4', 'm3', 'm2', 'm1']);
    expect(await ids('state=dead')).toEqual(['m3', 'm2', 'm1']);
    expect(await ids('event=Paid&type=track')).toEqual(['m2']);
    expect(await ids('userId=u2&destination=Webhooks&source=shop')).toEqual(['m3']);
    expect(await ids('messageId=m4')).toEqual(['m4']);
    const [third] = await relay.deliveries({ messageId: 'm3' });
    expect(await ids(`from=${third!.acceptedAt}`)).toEqual(['m4', 'm3']);
    expect(await ids(`to=${new Date(third!.acceptedAt).toISOString()}`)).toEqual(['m2', 'm1']);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await get(`deliveries?limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      expect(page.deliveries.length).toBeLessThanOrEqual(1);
      seen.push(...page.deliveries.map(({ messageId }) => messageId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(['m4', 'm3', 'm2', 'm1']);
    expect((await get('users/u2')).deliveries).toMatchObject([{ messageId: 'm3', event: 'Ordered', attempts: 1 }]);
  });

  it('are counted in one answer, by destination and class of reasons, which a search takes as well', async () => {
    const { get, find } = await startWithDead();
    const counted = await get('deliveries/count?reason=all_failed');
    const group = { destination: 'Webhooks', state: 'dead', reasonClass: 'all_failed', count: 3 };
    expect(counted).toMatchObject({ count: 3, groups: [{ ...group, answers: [{ status: 404, count: 3 }] }] });
    expect(counted.cursor).toBeUndefined();
    const [newest] = await find('state=dead&reason=all_failed');
    expect(counted.newest).toBe((newest as unknown as { acceptedAt: number }).acceptedAt);
    expect(await get('deliveries/count?userId=u2')).toMatchObject({ count: 1 });
    expect(await get('deliveries/count?event=Paid')).toMatchObject({ count: 1 });
    expect(await get('deliveries/count')).toMatchObject({ count: 4 });
    expect(await get('deliveries/count?reason=window_over')).toMatchObject({ count: 0, newest: null, groups: [] });
  });

  it('say since when delivered ones are kept, of the destination that is asked for or of all', async () => {
    const before = Date.now();
    const { get, relay } = await startWithDead();
    const { deliveredSince } = await get('deliveries?limit=1');
    const [first] = await relay.deliveries({ state: 'delivered' });
    expect(deliveredSince).toBeGreaterThanOrEqual(Math.max(before, first!.acceptedAt));
    expect(deliveredSince).toBeLessThanOrEqual(Date.now());
    expect(await get('deliveries?destination=Webhooks&state=dead')).toMatchObject({ deliveredSince });
    expect(await get('deliveries?destination=None')).toMatchObject({ deliveries: [], deliveredSince: null });
  });

  it('are shown 500 at once with pauses for other requests', async () => {
    const transform = () => {
      throw new Error('refused');
    };
    const { get, relay } = await startApi(cleanUp, createAdapter(), {
      destination: { transform },
      options: { queue: memoryQueue() },
    });
    const messages = Array.from({ length: 500 }, (_, index) => track(`m${index}`));
    await relay.accept('wk_shop', messages);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' }, { limit: 500 })).length === 500);
    const parse = vi.spyOn(JSON, 'parse');
    cleanUp(() => parse.mockRestore());
    const perTurn: number[] = [];
    const count = () => {
      perTurn.push(parse.mock.calls.length);
      parse.mockClear();
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    cleanUp(() => clearImmediate(turn));
    // A page may end early on a busy machine.
    await waitFor(async () => (await get('deliveries?limit=500')).deliveries.length === 500);
    expect(Math.max(...perTurn)).toBeLessThan(100);
  });

  it('are searched by one search at a time, with pauses for other work', async () => {
    const { relay } = await startApi(cleanUp, createAdapter(), {
      destination: { transform: () => undefined },
      options: { queue: memoryQueue() },
    });
    const messages = Array.from({ length: 5_000 }, (_, index) => track(`m${index}`));
    await relay.accept('wk_shop', messages);
    await waitFor(async () => (await relay.stats()).every(({ state }) => state === 'delivered'), undefined, 30_000);
    const parse = vi.spyOn(JSON, 'parse');
    cleanUp(() => parse.mockRestore());
    let most = 0;
    let turn = setImmediate(function count() {
      most = Math.max(most, parse.mock.calls.length);
      parse.mockClear();
      turn = setImmediate(count);
    });
    cleanUp(() => clearImmediate(turn));
    const searches = Array.from({ length: 40 }, () => relay.search({ type: 'page' }));
    expect((await Promise.allSettled(searches))[0]).toMatchObject({ status: 'fulfilled', value: { deliveries: [] } });
    expect(most).toBeLessThan(20_000); // of 200,000
  });

  it('are not searched while another search takes longer than 3 s', async () => {
    const queue = memoryQueue()();
    const { json, relay } = await startApi(cleanUp, createAdapter(), { options: { queue: () => queue } });
    const { store } = queue as unknown as { store: Pick<typeof queue.searches, 'search'> };
    let end!: () => void;
    const held = new Promise<DeliveryPortion>((resolve) => (end = () => resolve({ deliveries: [], next: undefined })));
    vi.spyOn(store, 'search').mockImplementationOnce(() => held);
    const first = relay.search();
    const refused = await Promise.all(['deliveries', 'timeseries'].map((route) => json('GET', route)));
    for (const { status, answer, response } of refused) {
      expect([status, answer.code, response.headers.get('retry-after')]).toEqual([429, 'too_many_searches', '1']);
    }
    end();
    await first;
    expect((await json('GET', 'deliveries')).status).toBe(200);
  });

  it('are searched for those who may write and the application before readers, and for callers in turn', async () => {
    const queue = memoryQueue()();
    const { json, relay } = await startApi(cleanUp, createAdapter(), { options: { queue: () => queue } });
    const { store, searches } = queue as unknown as {
      store: Pick<typeof queue.searches, 'search'>;
      searches: { turns: { waiting: Record<string, Map<string, Set<unknown>>> } };
    };
    let end!: () => void;
    const held = new Promise<DeliveryPortion>((resolve) => (end = () => resolve({ deliveries: [], next: undefined })));
    const search = vi.spyOn(store, 'search').mockImplementationOnce(() => held);
    const waiting = () =>
      Object.values(searches.turns.waiting)
        .flatMap((callers) => [...callers.values()])
        .reduce((sum, { size }) => sum + size, 0);
    const asked: Promise<unknown>[] = [relay.search({ event: 'held' })];
    for (const [event, token] of [
      ['reader 1', READ_TOKEN],
      ['reader 2', READ_TOKEN],
      ['writer 1', undefined],
      ['writer 2', undefined],
    ] as const) {
      asked.push(json('GET', `deliveries?event=${event}`, { token }));
      await waitFor(() => waiting() === asked.length - 1);
    }
    asked.push(relay.search({ event: 'application' }));
    await waitFor(() => waiting() === asked.length - 1);
    end();
    await Promise.all(asked);
    const order = ['held', 'writer 1', 'application', 'writer 2', 'reader 1', 'reader 2'];
    expect(search.mock.calls.map(([{ event }]) => event)).toEqual(order);
  });

  it('are shown with the end of the retry window of their destination', async () => {
    const { get, receiver, relay } = await startApi(cleanUp, createAdapter(), {
      destination: { retryWindow: 604_800_000 },
    });
    receiver.statuses = [503];
    await relay.accept('wk_shop', [track('m1')]);
    await waitFor(async () => (await relay.deliveries({ state: 'waiting' })).length === 1);
    const [{ id, firstAttemptAt } = { id: '', firstAttemptAt: 0 }] = await relay.deliveries();
    expect(await get(`deliveries/${id}`)).toMatchObject({ givesUpAt: firstAttemptAt! + 604_800_000 });
  });

  it('are shown one by one, with their body, attempts and routing', async () => {
    const { get, find, json, receiver } = await startWithDead();
    const deliveries = await find('messageId=m2');
    expect(deliveries[0]).toMatchObject({
      type: 'track',
      event: 'Paid',
      state: 'dead',
      attempts: 1,
      lastAttempt: { results: [{ url: receiver.url, status: 404, outcome: 'permanent' }] },
    });
    expect(deliveries[0]!.body).toBeUndefined();
    expect(await get(`deliveries/${deliveries[0]!.id}`)).toMatchObject({
      body: expect.stringContaining('"event":"Paid"'),
      attempts: [{ results: [{ status: 404 }] }],
      failedUrls: [receiver.url],
      routing: [{ destination: 'Webhooks', selected: true }],
      left: 0,
      request: {
        urls: [receiver.url],
        headers: { 'X-Message-Id': 'm2', 'X-Signature': '***' },
      },
    });
    expect(await json('GET', 'deliveries/999999')).toMatchObject({
      status: 404,
      answer: { code: 'delivery_unknown', field: 'id' },
    });
  });

  it('are shown with the routing of their own destination first, and of 100 at most', async () => {
    const destinations = Array.from({ length: 101 }, (_, index) => ({
      name: `to-${1_000 + index}`,
      urls: ['http://127.0.0.1:9/'],
    }));
    const { get, find, relay } = await startApi(cleanUp, createAdapter(), { options: { destinations } });
    await relay.accept('wk_shop', [track('m1')]);
    const deliveries = await find('destination=to-1100');
    const { routing, left } = await get(`deliveries/${deliveries[0]!.id}`);
    expect([(routing as unknown[]).length, left]).toEqual([100, 1]);
    expect((routing as unknown[])[0]).toEqual({ destination: 'to-1100', selected: true });
  });

  it.each([
    ['a field that there is not', 'stat=dead', 'stat'],
    ['a state that there is not', 'state=lost', 'state'],
    ['no time', 'from=yesterday', 'from'],
    ['a time in another format than ISO 8601', 'from=5 May', 'from'],
    ['a day that there is not', 'to=2026-02-31', 'to'],
    ['no limit', 'limit=0', 'limit'],
    ['a limit above the most', 'limit=501', 'limit'],
    ['a field twice', 'state=dead&state=dead', 'state'],
    ['a reason of those that are not dead', 'state=waiting&reason=x', 'state'],
    ['an empty field, which would match everything', 'userId=', 'userId'],
    ['an empty cursor', 'cursor=', 'cursor'],
  ])('are not searched by %s', async (_name, query, field) => {
    const { json } = await startApi(cleanUp, createAdapter());
    const { status, answer } = await json('GET', `deliveries?${query}`);
    expect([status, answer]).toEqual([400, { code: 'query_invalid', message: expect.stringContaining(field), field }]);
  });

  it('are replayed one at a time, with the same id', async () => {
    const { json, get, find, receiver, changes } = await startWithDead();
    const deliveries = await find('messageId=m1');
    const { id } = deliveries[0]!;
    expect(await json('POST', `deliveries/${id}/replay`)).toMatchObject({ status: 200, answer: { replayed: 1 } });
    const webhooks = await receiver.received(5);
    expect(webhooks[4]!.headers['x-message-id']).toBe('m1');
    expect(changes()).toMatchObject([{ action: 'delivery.replay', target: id, by: 'token', address: '127.0.0.1' }]);
    await waitFor(async () => (await get(`deliveries/${id}`)).state === 'delivered');
    expect(await json('POST', `deliveries/${id}/replay`, { body: { state: 'dead' } })).toMatchObject({
      status: 409,
      answer: { code: 'delivery_not_replayed', message: expect.stringContaining('this one is delivered') },
    });
    expect(await json('POST', `deliveries/${id}/replay`, { body: { state: 'queued' } })).toMatchObject({
      status: 400,
      answer: { code: 'state_invalid', field: 'state' },
    });
    expect(receiver.webhooks).toHaveLength(5);
    expect((await json('POST', `deliveries/${id}/replay`, { body: { state: 'delivered' } })).status).toBe(200);
    expect((await receiver.received(6))[5]!.headers['x-message-id']).toBe('m1');
    expect(changes().at(-1)).toMatchObject({ action: 'delivery.replay', details: { state: 'delivered' } });
    await waitFor(async () => (await get(`deliveries/${id}`)).state === 'delivered');
    expect((await get(`deliveries/${id}`)).attempts).toHaveLength(3);
    expect((await json('POST', 'deliveries/none/replay')).status).toBe(404);
    for (const [path, body] of [
      [`deliveries/${id}/replay`, { sate: 'dead' }],
      [`deliveries/${id}/replay?state=dead`, {}],
    ] as const) {
      expect((await json('POST', path, { body })).status).toBe(400);
    }
  });

  it('are tried now where they wait for a retry', async () => {
    const { json, relay, receiver, get } = await startApi(cleanUp, createAdapter(), {
      options: { delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 600_000 } },
    });
    receiver.statuses = [503];
    await relay.accept('wk_shop', [track('m1'), track('m2')]);
    const waiting = () => relay.deliveries({ state: 'waiting' });
    await waitFor(async () => (await waiting()).length === 2);
    receiver.statuses = [200];
    const [{ id }] = (await waiting()) as [DeliveryRecord];
    expect((await json('POST', `deliveries/${id}/replay`)).answer).toEqual({ replayed: 1 });
    await waitFor(async () => (await get(`deliveries/${id}`)).state === 'delivered');
    const { answer } = await json('POST', 'replays', { body: { query: { state: 'waiting' }, expected: 1 } });
    await waitFor(async () => (await get(`replays/${answer.id}`)).state === 'done');
    await receiver.received(4);
  });

  it('are replayed at most at a rate, until the replay is cancelled', async () => {
    const { json, get, relay, receiver } = await startApi(cleanUp, createAdapter());
    const audit = followAudit(relay);
    await relay.accept(
      'wk_shop',
      Array.from({ length: 60 }, (_, index) => track(`m${index}`)),
    );
    await receiver.received(60);
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 60);
    const times: number[] = [];
    const replay = relay.replay.bind(relay);
    vi.spyOn(relay, 'replay').mockImplementation((query) => {
      times.push(performance.now());
      return replay(query);
    });
    const body = { query: { state: 'delivered' }, expected: 60, rate: 20 };
    const { answer } = await json('POST', 'replays', { body });
    expect(answer).toMatchObject({ state: 'running', rate: 20, timeLeft: 3_000 });
    await waitFor(() => times.length > 20);
    expect(times[20]! - times[0]!).toBeGreaterThan(950);
    expect((await get(`replays/${answer.id}`)).timeLeft).toBeLessThan(2_050);
    const { answer: cancelled } = await json('DELETE', `replays/${answer.id}`);
    expect(cancelled).toMatchObject({ state: 'cancelled', rate: 20 });
    expect(cancelled).not.toHaveProperty('timeLeft');
    await waitFor(async () => times.length === 60 - Number((await get(`replays/${answer.id}`)).left));
    await receiver.received(60 + times.length);
    expect(times.length).toBeLessThan(60);
    expect(audit[0]).toMatchObject({ action: 'deliveries.replay', details: { rate: 20 } });
    for (const rate of [0, 10_001, 1.5, '5', null]) {
      expect(await json('POST', 'replays', { body: { ...body, rate } })).toMatchObject({
        status: 400,
        answer: { code: 'rate_invalid', field: 'rate' },
      });
    }
  });

  it('are replayed all together, but never more than were seen', async () => {
    const { json, get, receiver, changes } = await startWithDead();
    for (const expected of [1, 3]) {
      const refused = await json('POST', 'replays', { body: { query: { userId: 'u1' }, expected } });
      expect(refused).toMatchObject({ status: 409, answer: { code: 'expected_differs', field: 'expected' } });
    }
    expect(receiver.webhooks).toHaveLength(4);
    const { status, answer } = await json('POST', 'replays', {
      body: { query: { event: 'Ordered', userId: 'u1', state: 'dead' }, expected: 1 },
    });
    expect([status, answer]).toMatchObject([200, { state: 'running', total: 1, done: 0, left: 1 }]);
    const { id } = answer;
    await waitFor(async () => (await get(`replays/${id}`)).state === 'done');
    const query = { event: 'Ordered', userId: 'u1', state: 'dead' };
    expect(await get(`replays/${id}`)).toMatchObject({ query, total: 1, done: 1, left: 0, skipped: 0 });
    const webhooks = await receiver.received(5);
    expect(webhooks[4]!.headers['x-message-id']).toBe('m1');
    expect(changes()).toMatchObject([{ action: 'deliveries.replay', target: id, details: { expected: 1 } }]);
    expect(await json('DELETE', `replays/${id}`)).toMatchObject({ status: 200, answer: { state: 'done' } });
    expect((await json('GET', 'replays/none')).status).toBe(404);
    expect(await json('POST', 'replays', { body: { query: { state: 'queued' }, expected: 1 } })).toMatchObject({
      status: 400,
      answer: { code: 'state_invalid', field: 'state' },
    });
    expect(
      await json('POST', 'replays', { body: { query: { userId: 'ü'.repeat(2_100) }, expected: 0 } }),
    ).toMatchObject({
      status: 400,
      answer: { code: 'query_invalid', field: 'query', message: 'query must have at most 4096 bytes' },
    });
    for (const query of [{ userId: '' }, { userId: null }]) {
      expect(await json('POST', 'replays', { body: { query, expected: 3 } })).toMatchObject({
        status: 400,
        answer: { code: 'query_invalid', field: 'userId' },
      });
    }
    for (const body of [{}, { query: {} }, { query: {}, expected: -1 }, { query: [], expected: 0 }, { expected: 1 }]) {
      expect(await json('POST', 'replays', { body })).toMatchObject({
        status: 400,
        answer: { field: expect.any(String) },
      });
    }
  });

  it('are all counted when the replay of one fails', async () => {
    const { json, get, relay, receiver } = await startWithDead();
    vi.spyOn(relay, 'replay').mockImplementationOnce(() => Promise.reject(new Error('disk full')));
    const { answer } = await json('POST', 'replays', { body: { query: {}, expected: 3 } });
    await waitFor(async () => (await get(`replays/${answer.id}`)).state === 'failed');
    expect(await get(`replays/${answer.id}`)).toMatchObject({ done: 2, left: 1, skipped: 0, error: 'disk full' });
    await receiver.received(6);
  });

  it('stay cancelled when the replay of one then fails', async () => {
    const { json, get, relay } = await startWithDead();
    let fail!: (error: Error) => void;
    const held = new Promise<number>((_resolve, reject) => (fail = reject));
    vi.spyOn(relay, 'replay').mockImplementationOnce(() => held);
    const { answer } = await json('POST', 'replays', { body: { query: {}, expected: 3 } });
    const { answer: cancelled } = await json('DELETE', `replays/${answer.id}`);
    fail(new Error('disk full'));
    await waitFor(async () => (await get(`replays/${answer.id}`)).left === 1);
    expect(cancelled.state).toBe('cancelled');
    expect(await get(`replays/${answer.id}`)).toEqual({ ...cancelled, done: 2, left: 1 });
  });

  const required = createRequire(import.meta.url)('nestjs-analytics-relay') as {
    QueueFullError: typeof QueueFullError;
  };
  it.each([
    ['', QueueFullError],
    [", also if the queue is of the package's other build", required.QueueFullError],
  ])('of a user are kept while the queue is full%s', async (_build, QueueFullError) => {
    const queue = memoryQueue()();
    const { json } = await startApi(cleanUp, createAdapter(), { options: { queue: () => queue } });
    vi.spyOn(queue, 'add').mockRejectedValueOnce(new QueueFullError('the queue is full'));
    const { status, answer, response } = await json('DELETE', 'users/u1');
    expect([status, answer.code, response.headers.get('retry-after')]).toEqual([503, 'queue_full', '5']);
  });

  it('of a user are removed, and their destinations notified', async () => {
    const { json, get, relay, receiver, changes } = await startWithDead();
    expect(await json('DELETE', 'users/u1', { body: { userId: 'u2' } })).toMatchObject({
      answer: { code: 'field_unknown', field: 'userId' },
    });
    expect(await json('DELETE', 'users/u1', { body: { userIds: ['u2'] } })).toMatchObject({
      status: 400,
      answer: { code: 'field_unknown', field: 'userIds' },
    });
    expect(await json('DELETE', 'users/u1', { body: {} })).toMatchObject({
      status: 200,
      answer: { purged: 3, notifications: 1 },
    });
    const webhooks = await receiver.received(5);
    expect(webhooks[4]!.body).toMatchObject({ type: 'delete', userId: 'u1' });
    expect((await get('users/u1')).deliveries).toMatchObject([{ type: 'delete' }]);
    expect(changes()).toMatchObject([{ action: 'user.delete', userIds: ['u1'], details: { purged: 3 } }]);

    await relay.accept('wk_shop', [track('m5', { userId: '..' })]); // an id that a path cannot contain
    const sources = ['shop'];
    expect(await json('POST', 'deletions', { body: { userId: '..', sources } })).toMatchObject({
      status: 200,
      answer: { purged: 1 },
    });
    expect(changes()[1]).toMatchObject({ action: 'user.delete', userIds: ['..'], details: { sources, purged: 1 } });
    for (const body of [{}, { userId: 'u2', userIds: ['u3'] }]) {
      expect((await json('POST', 'deletions', { body })).status).toBe(400);
    }
  });
});
