import { memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onFastify } from '../../../support/platforms.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { waitFor } from '../../../support/wait-for.js';
import { followAudit, startApi, TOKEN, track } from './support.js';

describe.each(onFastify)('Search by the API on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  /** With three orders, of which the receiver refused the first. */
  async function startWithOrders(queue = memoryQueue()) {
    const api = await startApi(cleanUp, createAdapter(), {
      options: { queue, search: { fields: ['properties.orderId'] } },
    });
    api.receiver.statuses = [404, 200];
    const orders = [
      { properties: { orderId: 4711 }, anonymousId: 'a1' },
      { properties: { orderId: '4711', plan: 'pro' } },
      { properties: { orderId: 4712 } },
    ];
    for (const [index, order] of orders.entries()) {
      await api.relay.accept('wk_shop', [track(`m${index}`, { event: 'Order Completed', ...order })]);
      await api.receiver.received(index + 1);
    }
    await waitFor(async () => (await api.relay.deliveries({ state: 'delivered' })).length === 2);
    return api;
  }

  it('finds deliveries by values of fields, anonymous id, status and the beginning of the event', async () => {
    const { find, get, json } = await startWithOrders();
    const ids = async (query: string) => (await find(query)).map(({ messageId }) => messageId);
    expect(await ids('field.properties.orderId=4711')).toEqual(['m1', 'm0']);
    expect(await ids('field.properties.orderId=4711&state=dead')).toEqual(['m0']);
    expect(await ids('field.properties.plan=pro')).toEqual(['m1']);
    expect(await ids('anonymousId=a1')).toEqual(['m0']);
    expect(await ids('status=404')).toEqual(['m0']);
    expect(await ids('eventStart=Order%20C&status=200')).toEqual(['m2', 'm1']);
    expect(await ids('eventStart=Paid')).toEqual([]);
    expect(await get('deliveries/count?field.properties.orderId=4711')).toMatchObject({ count: 2 });
    const refused = async (query: string) => {
      const { status, answer } = await json('GET', `deliveries?${query}`);
      return [status, answer.code, answer.field];
    };
    for (const name of ['field.orderId', 'field.userId', 'field.properties', 'field.']) {
      expect(await refused(`${name}=1`)).toEqual([400, 'query_invalid', name]);
    }
    expect(await refused('field.properties.orderId=')).toEqual([400, 'query_invalid', 'field.properties.orderId']);
    expect(await refused('status=4711')).toEqual([400, 'query_invalid', 'status']);
  });

  it('finds values that SQLite keeps after a restart, but reads bodies for those of fields that were added later', async () => {
    const folder = await temporaryFolder();
    cleanUp(() => folder.remove());
    const queue = sqliteQueue({ path: folder.path('relay.db') });
    const { app, relay, find } = await startWithOrders(queue);
    expect(await find('field.properties.orderId=4711')).toHaveLength(2);
    await app.close();
    expect(relay).toBeDefined();
    const fields = ['properties.orderId', 'properties.plan'];
    const again = await startApi(cleanUp, createAdapter(), { options: { queue, search: { fields } } });
    expect(await again.find('field.properties.orderId=4711')).toHaveLength(2);
    expect(await again.find('field.properties.plan=pro')).toHaveLength(0); // accepted before
  });

  it('replays dead deliveries by the value of a field, which the audit log does not have', async () => {
    const { json, relay, receiver } = await startWithOrders();
    const audit = followAudit(relay);
    const query = { 'field.properties.orderId': '4711', status: 404 };
    const { status } = await json('POST', 'replays', { body: { query, expected: 1 } });
    expect(status).toBe(200);
    await receiver.received(4);
    expect(audit[0]!.details).toEqual({ query: { 'field.properties.orderId': '***', status: 404 }, expected: 1 });
  });

  it('answers what a text names, of each kind', async () => {
    const { get, relay, json } = await startWithOrders();
    const search = async (text: string) => await get(`search?text=${encodeURIComponent(text)}`);
    const ofOrder = await search(' 4711 ');
    const query = { 'field.properties.orderId': '4711' };
    expect(ofOrder).toMatchObject({
      found: [{ query, more: false, deliveries: [{ messageId: 'm1' }, { messageId: 'm0', lastAttempt: {} }] }],
      destinations: [],
      sources: [],
    });
    expect(JSON.stringify(ofOrder)).not.toContain('properties":{');
    expect(await search('m2')).toMatchObject({ found: [{ query: { messageId: 'm2' }, deliveries: [{}] }] });
    expect(await search('u1')).toMatchObject({ found: [{ query: { userId: 'u1' }, deliveries: [{}, {}, {}] }] });
    expect(await search('a1')).toMatchObject({ found: [{ query: { anonymousId: 'a1' }, deliveries: [{}] }] });
    const [{ id } = { id: '' }] = await relay.deliveries({ messageId: 'm0' });
    expect(await search(id)).toMatchObject({ found: [{ query: { id }, deliveries: [{ id }] }] });
    expect(await search('webh')).toMatchObject({
      found: [],
      destinations: [{ name: 'Webhooks', matched: 'name', value: 'Webhooks' }],
    });
    expect(await search('shop')).toMatchObject({ sources: [{ name: 'shop', matched: 'name' }] });
    const { answer: replay } = await json('POST', 'replays', { body: { query: { state: 'dead' }, expected: 1 } });
    expect(await search(replay.id)).toMatchObject({ replay: { id: replay.id, total: 1 }, found: [] });
    expect(await search('9f7e6c6e-0000-4000-8000-000000000000')).toEqual({
      found: [],
      refusals: [],
      destinations: [],
      sources: [],
    });
    for (const text of ['', '%20', 'x'.repeat(501)]) {
      expect((await json('GET', `search?text=${text}`)).answer).toMatchObject({ code: 'query_invalid', field: 'text' });
    }
  });

  it('fails while other processes cannot be asked for a replay, and takes no process down', async () => {
    const send = () => Promise.reject(new Error('connection lost'));
    const queue = Object.assign(memoryQueue()(), { peers: { received$: NEVER, send } });
    const { json } = await startApi(cleanUp, createAdapter(), { options: { queue: () => queue } });
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    cleanUp(() => process.off('unhandledRejection', note));
    expect((await json('GET', 'search?text=9f7e6c6e-0000-4000-8000-000000000000')).status).toBe(500);
    expect(unhandled).toEqual([]);
  });

  it('finds refused messages of any source by their id and by their user', async () => {
    const { get, relay } = await startApi(cleanUp, createAdapter());
    await relay.accept('wk_shop', [track('m1', { event: 7, userId: 'u7' }), track('m2', { event: 8 })]);
    const search = async (text: string) => (await get(`search?text=${text}`)).refusals as object[];
    await waitFor(async () => (await search('m2')).length === 1);
    const refusal = { source: 'shop', code: 'event_not_string', field: 'event', sdk: 'unknown', messageId: 'm1' };
    expect(await search('m1')).toMatchObject([refusal]);
    expect(await search('u7')).toMatchObject([refusal]);
    expect(await search('event_not_string')).toEqual([]);
  });

  it('finds one of 5,000 destinations by its metadata: those that match as a whole first, at most 10', async () => {
    const destinations = Array.from({ length: 5_000 }, (_, index) => ({
      name: `hook-${index}`,
      urls: ['https://receiver.example/'],
      metadata: { tenant: `Acme ${index}`, name: 'x' },
    }));
    const { get } = await startApi(cleanUp, createAdapter(), { options: { queue: memoryQueue(), destinations } });
    const { destinations: found } = await get('search?text=acme%20471');
    expect(found).toHaveLength(10);
    expect(found[0]).toEqual({ name: 'hook-471', matched: 'metadata.tenant', value: 'Acme 471' });
    expect(found[1]).toEqual({ name: 'hook-4710', matched: 'metadata.tenant', value: 'Acme 4710' });
    expect((await get('search?text=hook-12')).destinations[0]).toMatchObject({ name: 'hook-12', matched: 'name' });
  });

  it('tells the dashboard which fields are found at once, and whether entries can be created', async () => {
    const { get, json } = await startWithOrders();
    const options = { searchFields: ['properties.orderId'], hasStoredRegistry: false };
    expect(await get('session')).toMatchObject(options);
    const { answer } = await json('POST', 'session', { token: null, body: { token: TOKEN } });
    expect(answer).toMatchObject(options);
    const stored = await startApi(cleanUp, createAdapter(), { options: { registry: 'store' } });
    expect(await stored.get('session')).toMatchObject({ searchFields: [], hasStoredRegistry: true });
  });
});
