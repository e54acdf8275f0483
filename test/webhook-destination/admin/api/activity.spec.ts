import { sqliteQueue } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { createLogId } from '../../../../lib/webhook-destination/queue/log-store.interface.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { Receiver } from '../../../support/receiver.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { waitFor } from '../../../support/wait-for.js';
import { READ_TOKEN, signIn, startApi, TOKEN, track } from './support.js';

interface Entry {
  id: string;
  action: string;
  at: number;
  [field: string]: unknown;
}

const DAY = 24 * 3_600_000;

describe.each(platforms)('The activity on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();
  afterEach(() => vi.restoreAllMocks());

  const start = async (others: Parameters<typeof startApi>[2] = {}) => {
    const api = await startApi(cleanUp, createAdapter(), others);
    const activity = async (query = '') => (await api.get(`activity?${query}`)).entries as Entry[];
    return { ...api, activity };
  };

  it('has who did what, from where and with which result, newest first, also after a restart', async () => {
    const path = (await temporaryFolder(cleanUp)).path('relay.db');
    const options = { registry: 'store' as const, queue: sqliteQueue({ path }) };
    const admin = { tokens: [{ name: 'anna', token: TOKEN, access: 'write' as const }] };
    const first = await start({ options, admin });
    await signIn(first);
    const urls = ['https://receiver.example/'];
    await first.ask('POST', 'destinations', { body: { name: 'crm', urls, sharedSecret: 's3cret' } });
    await first.ask('POST', 'destinations/none/pause', { body: {} });
    await first.app.close();

    const { activity, get } = await start({ options: { ...options, queue: sqliteQueue({ path }) }, admin });
    const own = { user: 'anna', address: '127.0.0.1', at: expect.any(Number) as number };
    const entries = await activity();
    expect(entries).toMatchObject([
      { ...own, action: 'change.failed', target: 'none', result: 'failed', details: { code: 'destination_unknown' } },
      { ...own, action: 'destination.create', by: 'token', target: 'crm', result: 'done' },
      { ...own, action: 'sign-in', result: 'done' },
    ]);
    expect(JSON.stringify(entries)).not.toContain('s3cret');
    expect(await get(`activity/${entries[1]!.id}`)).toEqual(entries[1]);
  });

  it('is searched by action, person, subject and time, page by page', async () => {
    const { activity, get, ask, json } = await start({ options: { registry: 'store' } });
    const urls = ['https://receiver.example/'];
    for (const name of ['a', 'b', 'c']) await ask('POST', 'destinations', { body: { name, urls } });
    await ask('POST', 'destinations/b/pause', { body: {} });
    await ask('POST', 'destinations/b/pause', { token: READ_TOKEN, body: {} });
    const names = (entries: Entry[]) => entries.map(({ action, target }) => `${action} ${String(target)}`);
    expect(names(await activity('what=destination&target=b'))).toEqual(['destination.pause b', 'destination.create b']);
    expect(names(await activity('what=request'))).toEqual(['request.refused b']);
    expect(await activity('what=dest')).toEqual([]);
    expect(names(await activity('who=127.0.0.1'))).toHaveLength(5);
    expect(await activity('who=anna')).toEqual([]);
    const [, second] = await activity('what=destination');
    expect(await activity(`to=${second!.at}`)).not.toContainEqual(second);
    expect(await activity(`from=${Date.now() + 1}`)).toEqual([]);
    const page = await get('activity?what=destination.create&limit=2');
    expect(names(page.entries as Entry[])).toEqual(['destination.create c', 'destination.create b']);
    const rest = await get(`activity?what=destination.create&limit=2&cursor=${page.cursor!}`);
    expect(names(rest.entries as Entry[])).toEqual(['destination.create a']);
    expect(rest.cursor).toBeUndefined();
    expect((await json('GET', 'activity?cursor=%00')).status).toBe(400);
    expect((await json('GET', 'activity/%00')).answer.code).toBe('activity_unknown');
  });

  it('has the proof of a deletion: what was purged, which receivers were told, and what they answered', async () => {
    const { activity, ask, get, receiver, relay } = await start({
      options: {
        sources: [
          { name: 'shop', writeKey: 'wk_shop' },
          { name: 'app', writeKey: 'wk_app' },
        ],
      },
    });
    await relay.accept('wk_shop', [track('m1'), track('m2')]);
    await relay.accept('wk_app', [track('m3')]);
    await receiver.received(3);
    receiver.statuses = [410];
    await ask('POST', 'deletions', { body: { userId: 'u1' } });
    await receiver.received(4);
    const [entry, ...others] = await activity('userId=u1');
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: 'user.delete',
      by: 'token',
      result: 'done',
      details: { users: 1, purged: 3, notifications: 1 },
      deletion: { purged: { shop: 2, app: 1 }, receivers: { Webhooks: 1 }, leftOut: 0, disabled: [] },
    });
    await waitFor(async () => Object.keys((await get(`activity/${entry!.id}`)).receipts as object).length > 0);
    const { receipts } = await get(`activity/${entry!.id}`);
    expect(receipts).toMatchObject({ Webhooks: { delivered: 0, dead: 1, status: 410 } });
    receiver.statuses = [200];
    expect(await relay.replay({})).toBe(1);
    await receiver.received(5);
    await waitFor(async () => {
      const answer = await get(`activity/${entry!.id}`);
      return (answer.receipts as { Webhooks: { delivered: number } }).Webhooks.delivered === 1;
    });
    expect((await get(`activity/${entry!.id}`)).receipts).toMatchObject({ Webhooks: { status: 200, dead: 1 } });
  });

  it('has the answer that accepted a notification, also if another URL of the destination refused it', async () => {
    const [refusing, taking] = await Promise.all([Receiver.start(), Receiver.start()]);
    for (const receiver of [refusing, taking]) cleanUp(() => receiver.stop());
    refusing.statuses = [500];
    const { activity, ask, get } = await start({
      options: { destinations: [{ name: 'crm', urls: [refusing.url, taking.url] }] },
    });
    await ask('POST', 'deletions', { body: { userId: 'u1' } });
    await taking.received(1);
    const [entry] = await activity('userId=u1');
    await waitFor(async () => Object.keys((await get(`activity/${entry!.id}`)).receipts as object).length > 0);
    expect((await get(`activity/${entry!.id}`)).receipts).toMatchObject({ crm: { delivered: 1, status: 200 } });
  });

  it('counts each notification once, however often and by whichever process it is sent', async () => {
    const queue = sqliteQueue({ path: (await temporaryFolder(cleanUp)).path('relay.db') });
    const outcomes: string[] = [];
    const begin = async () => {
      const begun = await start({ options: { queue } });
      begun.relay.events$.subscribe(({ type }) => outcomes.push(type));
      return begun;
    };
    const first = await begin();
    first.receiver.statuses = [400, 200];
    const { id } = await first.relay.requestDeletion({ userIds: ['u1', 'u2'] });
    await waitFor(() => outcomes.length === 2);
    const replayBoth = async ({ relay, receiver, get }: typeof first) => {
      for (const [state, status] of [['delivered', 200] as const, ['dead', 400] as const]) {
        outcomes.length = 0;
        receiver.statuses = [status];
        expect(await relay.replay({ state })).toBe(1);
        await waitFor(() => outcomes.length === 1);
      }
      return (await get(`activity/${id}`)).receipts;
    };
    const once = { Webhooks: { delivered: 1, dead: 1 } };
    expect(await replayBoth(first)).toMatchObject(once);
    await first.app.close();
    expect(await replayBoth(await begin())).toMatchObject(once);
  });

  it('has the answers of destinations whose names are those of what objects inherit', async () => {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    const names = ['__proto__', 'constructor'];
    const { get, relay } = await start({
      options: { destinations: names.map((name) => ({ name, urls: [receiver.url] })) },
    });
    const { id } = await relay.requestDeletion({ userId: 'u1' });
    const receipts = async () => Object.entries((await get(`activity/${id}`)).receipts as object);
    await waitFor(async () => (await receipts()).length === 2);
    const accepted = { delivered: 1, dead: 0, status: 200, at: expect.any(Number) as number };
    expect((await receipts()).sort()).toEqual(names.map((name) => [name, accepted]));
  });

  it('counts as answers only those to notifications, whatever id a message has', async () => {
    const { activity, ask, get, receiver, relay } = await start();
    await ask('POST', 'deletions', { body: { userId: 'u1' } });
    const [{ id }] = (await activity('userId=u1')) as [Entry];
    await receiver.received(1);
    await relay.accept('wk_shop', [track(`delete-${id}.1`)]);
    await receiver.received(2);
    await relay.requestDeletion({ userId: 'u2' });
    await receiver.received(3);
    expect((await get(`activity/${id}`)).receipts).toMatchObject({ Webhooks: { delivered: 1, dead: 0 } });
  });

  it('has deletions in code, and no user id in any file of the queue', async () => {
    const { activity, relay, ask } = await start();
    await relay.requestDeletion({ userIds: ['victim-1', 'victim-2'] });
    await ask('DELETE', 'users/victim-3', { body: { sources: [], s3cret: 1 } });
    const [failed, deletion] = await activity();
    expect(deletion).toMatchObject({ action: 'user.delete', by: 'application', details: { users: 2 } });
    expect(failed).toMatchObject({ action: 'change.failed', details: { route: 'DELETE users/:userId' } });
    expect(JSON.stringify([failed, deletion])).not.toContain('victim');
    for (const userId of ['victim-1', 'victim-2']) expect(await activity(`userId=${userId}`)).toEqual([deletion]);
    expect(await activity('userId=victim')).toEqual([]);
    expect(await activity('userId=victim-3')).toEqual([failed]);
  });

  it('keeps refused sign-ins as one entry a minute for each address, which push out no other entry', async () => {
    const { activity, ask, relay } = await start();
    await relay.requestDeletion({ userId: 'u1' });
    const wrong = () => ask('GET', 'overview', { token: 'wrong-t0ken-of-the-tests-32-long' });
    await Promise.all(Array.from({ length: 12 }, wrong));
    const refused = await activity('what=sign-in.refused');
    const counts = refused.map(({ details, count }) => [(details as { code: string }).code, count]);
    expect(Object.fromEntries(counts)).toEqual({ admin_token_wrong: 10, rate_limited: 2 });
    expect(refused[0]).toMatchObject({ result: 'refused', address: '127.0.0.1' });
    expect(await activity('what=user')).toHaveLength(1);
  });

  it('never fails or delays an action: what cannot be written is logged and written later', async () => {
    const queue = sqliteQueue({ path: (await temporaryFolder(cleanUp)).path('relay.db') })();
    const { activity, ask } = await start({ options: { queue: () => queue, registry: 'store' } });
    const log = vi.spyOn((await import('@nestjs/common')).Logger.prototype, 'error').mockReturnValue(undefined);
    const write = vi.spyOn(queue.logs, 'write').mockImplementation(() => Promise.reject(new Error('disk is full')));
    const body = { name: 'crm', urls: ['https://receiver.example/'] };
    expect((await ask('POST', 'destinations', { body })).status).toBe(200);
    await waitFor(() => write.mock.calls.length > 0);
    await waitFor(() => log.mock.calls.some(([line]) => /activity cannot be written.*disk is full/.test(String(line))));
    write.mockRestore();
    expect(await activity()).toMatchObject([{ action: 'destination.create', target: 'crm' }]);
  });

  it('ends after 90 days, and a search without matches reads it in portions', async () => {
    const queue = sqliteQueue({ path: (await temporaryFolder(cleanUp)).path('relay.db') })();
    const { get } = await start({ options: { queue: () => queue } });
    const at = Date.now();
    const record = (time: number) => {
      const id = createLogId(time);
      return { id, text: JSON.stringify({ id, at: time, action: 'source.create' }) };
    };
    const log = { name: 'activity', age: 90 * DAY, count: 10_000 };
    await queue.logs.write(log, [record(at - 91 * DAY), record(at - 89 * DAY)]);
    expect((await get('activity')).entries).toHaveLength(1);
    const many = Array.from({ length: 2_500 }, (_, index) => record(at - index));
    await queue.logs.write(log, many);
    const first = await get('activity?what=none');
    expect(first).toMatchObject({ entries: [] });
    const second = await get(`activity?what=none&cursor=${first.cursor!}`);
    expect(second).toEqual({ entries: [] });
  });
});
