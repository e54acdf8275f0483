import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

import { type DeliveryQueue, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onExpress } from '../../../support/platforms.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { waitFor } from '../../../support/wait-for.js';
import { followAudit, READ_TOKEN, startApi, track } from './support.js';

interface Refused {
  id: string;
  at: number;
  code: string;
  field: string;
  message: string;
  userAgent?: string;
  library?: string;
  messageId?: string;
  route?: string;
  bytes?: number;
  isWhole: boolean;
  text: string;
}

const LOG = { name: 'refusals:shop', age: 3_600_000, count: 1_000 };

const context = { library: { name: 'analytics-node', version: '3.1.0' } };

describe.each(onExpress)('Refused messages on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  async function start(options: Parameters<typeof startApi>[2] = {}) {
    const api = await startApi(cleanUp, createAdapter(), options);
    const post = async (body: object | string, path = 'batch', headers: Record<string, string> = {}) => {
      const response = await fetch(`${api.host}/v1/${path}`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa('wk_shop:')}`, 'User-Agent': 'shop-app/7', ...headers },
        body: body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body),
      });
      await response.text();
      return response.status;
    };
    const list = async (query = '') =>
      (await api.get(`refusals?source=shop${query}`)) as unknown as { refusals: Refused[]; cursor?: string };
    /** Once as many are kept, newest first. */
    const kept = async (count: number) => {
      await waitFor(async () => (await list()).refusals.length === count);
      return (await list()).refusals;
    };
    const read = async (id: string) => (await api.get(`refusals/${id}?source=shop`)) as unknown as Refused;
    const resubmit = async (body: object) => {
      const { status, answer } = await api.json('POST', 'refusals/resubmit', { body: { source: 'shop', ...body } });
      return [status, answer] as const;
    };
    return { ...api, post, list, kept, read, resubmit };
  }

  it('have ids and cursors that are checked', async () => {
    const { json, resubmit } = await start();
    const wrong = [400, expect.objectContaining({ code: 'query_invalid' })];
    for (const cursor of ['zzz', '%00']) {
      const { status, answer } = await json('GET', `refusals?source=shop&cursor=${cursor}`);
      expect([status, answer]).toEqual(wrong);
      expect(answer.field).toBe('cursor');
      expect((await json('GET', `refusals/${cursor}?source=shop`)).answer.code).toBe('refusal_unknown');
    }
    expect(await resubmit({ ids: ['\u0000'] })).toEqual(wrong);
  });

  it('say which rule, field and SDK, have their text, and are counted by reason', async () => {
    const { post, kept, read, get } = await start();
    const before = Date.now();
    await post({ batch: [track('m1'), track('m2', { event: 7, context, writeKey: 'wk_shop' })] });
    await post({ userId: 'u1', messageId: 'm3' }, 'track', { 'User-Agent': '' });
    const [second, first] = await kept(2);
    expect(first).toMatchObject({
      code: 'event_not_string',
      field: 'event',
      userAgent: 'shop-app/7',
      library: 'analytics-node 3.1.0',
      type: 'track',
      messageId: 'm2',
      isWhole: true,
    });
    expect(first).not.toHaveProperty('text');
    expect(first!.at).toBeGreaterThanOrEqual(before);
    const whole = await read(first!.id);
    expect(JSON.parse(whole.text)).toEqual(track('m2', { event: 7, context }));
    expect(whole.bytes).toBe(whole.text.length);
    expect(JSON.parse((await read(second!.id)).text)).toEqual({ userId: 'u1', messageId: 'm3', type: 'track' });
    expect(await get('refusals/count?source=shop')).toMatchObject({
      count: 2,
      groups: expect.arrayContaining([
        expect.objectContaining({ code: 'event_not_string', field: 'event', sdk: 'analytics-node 3.1.0', count: 1 }),
        expect.objectContaining({ sdk: 'unknown', count: 1 }),
      ]),
    });
  });

  it('are paged, and filtered by code, field and SDK', async () => {
    const { post, list, kept, json } = await start();
    const faulty = (index: number) =>
      index % 2 ? track(`m${index}`, { event: 1 }) : track(`m${index}`, { userId: {} });
    await post({ batch: Array.from({ length: 7 }, (_, index) => faulty(index)) });
    const all = (await kept(7)).map(({ messageId }) => messageId);
    expect(all).toEqual(['m6', 'm5', 'm4', 'm3', 'm2', 'm1', 'm0']);
    const paged: (string | undefined)[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page = await list(`&limit=3${cursor && `&cursor=${cursor}`}`);
      paged.push(...page.refusals.map(({ messageId }) => messageId));
      ({ cursor } = page);
    }
    expect(paged).toEqual(all);
    const ids = async (query: string) => (await list(query)).refusals.map(({ messageId }) => messageId);
    expect(await ids('&code=event_not_string&limit=2')).toEqual(['m5', 'm3']);
    expect(await ids('&field=userId&sdk=shop-app/7')).toEqual(['m6', 'm4', 'm2', 'm0']);
    expect(await ids('&sdk=other')).toEqual([]);
    for (const path of ['refusals', 'refusals?source=', 'refusals/count', 'refusals?source=shop&kode=x']) {
      expect((await json('GET', path)).answer.code).toBe('query_invalid');
    }
    expect((await json('GET', 'refusals/none?source=shop')).status).toBe(404);
  });

  it('have at most 32 KB of text, and never a write key', async () => {
    const { post, kept, read } = await start();
    await post({ batch: [track('m1', { properties: { text: 'é'.repeat(40_000) }, userId: 'u2' })] });
    await post(`{"writeKey": "wk_shop", "context": {"library":{"name":"broken","version":"1"}}, "key": 'wk_shop', `);
    await post({ writeKey: 'wk_other', batch: 'none', deep: { writeKey: 'wk_shop' }, url: '/?k=wk_shop' });
    await post({ batch: [track('m2', { event: 1, properties: { writeKey: 'wk_shop', url: '/?k=wk_shop' } })] });
    await post(gzipSync('x'.repeat(600_000)));
    const found = await kept(5);
    const texts = await Promise.all(found.map(async ({ id }) => (await read(id)).text));
    expect(texts.filter((text) => /wk_(shop|other)/.test(text))).toEqual([]);
    expect(found.map(({ code, isWhole, route }) => [code, isWhole, route])).toEqual([
      ['body_too_large', false, 'batch'],
      ['event_not_string', true, undefined],
      ['batch_not_array', true, 'batch'],
      ['body_not_json', true, 'batch'],
      ['message_too_large', false, undefined],
    ]);
    expect(found[3]!.library).toBe('broken 1');
    expect(Buffer.byteLength(texts[4]!)).toBeLessThanOrEqual(32 * 1024);
    expect(texts[4]!.endsWith('é')).toBe(true);
  });

  it('are kept whatever the application gives as the time at which they were posted', async () => {
    const { relay, kept } = await start();
    await relay.accept('wk_shop', [track('m1', { event: 1 })], { sentAt: new Date('none') });
    expect(await kept(1)).toMatchObject([{ messageId: 'm1' }]);
  });

  it('are not kept if the relay itself is the reason, or the sender is unknown', async () => {
    const { post, kept } = await start({ options: { ingest: { rateLimit: { limit: 1, ttl: 60_000 } } } });
    expect(await post({ batch: [track('m1', { event: 1 })] })).toBe(200);
    expect(await post({ batch: [track('m2', { event: 1 })] })).toBe(429);
    expect(await post('{', 'batch', { Authorization: `Basic ${btoa('wk_nobody:')}` })).toBe(401);
    expect((await kept(1)).map(({ messageId }) => messageId)).toEqual(['m1']);
  });

  it('are resubmitted with their ids and times: what is accepted goes, what is refused stays with its new reason', async () => {
    const queue = memoryQueue()();
    const { post, kept, resubmit, receiver, json, relay } = await start({ options: { queue: () => queue } });
    const audit = followAudit(relay);
    const posted = { originalTimestamp: '2026-01-01T00:00:00.000Z' };
    await post({
      sentAt: '2026-01-01T00:01:00.000Z',
      batch: [track('m1', { ...posted, event: 1 }), track('m2', { event: 2 })],
    });
    const [, first] = await kept(2);
    expect(await resubmit({ expected: 1 })).toMatchObject([409, { code: 'expected_differs' }]);
    expect(await resubmit({ expected: 2 })).toMatchObject([200, { accepted: 0, refused: 2, left: 0 }]);
    expect(receiver.webhooks).toEqual([]);
    // The rule of the source is mended: for the relay, as if it were.
    await mend(queue, first!.id, (text) => text.replace('"event":1', '"event":"Ordered"'));
    expect(await resubmit({ expected: 2, code: 'event_not_string' })).toMatchObject([200, { accepted: 1, refused: 1 }]);
    const [webhook] = await receiver.received(1);
    const { body, headers } = webhook!;
    expect(headers).toMatchObject({ 'x-message-id': 'm1' });
    expect(Date.parse(body.timestamp as string)).toBe(first!.at - 60_000);
    const [left] = await kept(1);
    await mend(queue, left!.id, (text) => text.replace('"event":2,"userId":"u1"', '"event":"Ordered","userId":7.5'));
    expect(await resubmit({ ids: [left!.id] })).toMatchObject([200, { accepted: 0, refused: 1 }]);
    expect(await kept(1)).toMatchObject([{ code: 'user_id_not_string', field: 'userId', messageId: 'm2' }]);
    expect(audit.map(({ action, target, details }) => [action, target, details?.accepted])).toEqual([
      ['change.failed', undefined, undefined],
      ['refusals.resubmit', 'shop', 0],
      ['refusals.resubmit', 'shop', 1],
      ['refusals.resubmit', 'shop', 0],
    ]);
    const asReader = { body: { source: 'shop', expected: 1 }, token: READ_TOKEN };
    expect((await json('POST', 'refusals/resubmit', asReader)).status).toBe(403);
    expect(await resubmit({ source: 'nobody', expected: 0 })).toMatchObject([404, { code: 'source_unknown' }]);
    expect(await resubmit({ expected: -1 })).toMatchObject([400, { code: 'expected_invalid' }]);
    expect(await resubmit({ ids: [] })).toMatchObject([400, { code: 'query_invalid' }]);
  });

  it('that were whole requests are resubmitted as requests', async () => {
    const queue = memoryQueue()();
    const { post, kept, resubmit, receiver } = await start({ options: { queue: () => queue } });
    await post({ batch: 'none' });
    const [refusal] = await kept(1);
    expect(await resubmit({ expected: 1 })).toMatchObject([200, { accepted: 0, refused: 1 }]);
    await mend(queue, refusal!.id, () =>
      JSON.stringify({ batch: [track('m1'), track('m2', { event: 1 }), track('m3')] }),
    );
    expect(await resubmit({ expected: 1 })).toMatchObject([200, { accepted: 1 }]);
    expect((await receiver.taken(2)).sort()).toEqual(['m1', 'm3']);
    // Its refused message is kept by itself.
    await waitFor(async () => (await kept(1))[0]!.messageId === 'm2');
  });

  it('get an id when they are resubmitted without one, so that they are delivered once', async () => {
    const queue = memoryQueue()();
    const { post, kept, resubmit, receiver } = await start({ options: { queue: () => queue } });
    await post({ batch: [{ type: 'track', userId: 'u1', event: 1 }] });
    const [{ id }] = (await kept(1)) as [Refused];
    await mend(queue, id, (text) => text.replace('"event":1', '"event":"Ordered"'));
    const records = await queue.logs.find(LOG, [id]);
    await resubmit({ expected: 1 });
    await receiver.received(1);
    await queue.logs.write(LOG, records); // as if the process had ended before it was removed
    expect(await resubmit({ expected: 1 })).toMatchObject([200, { accepted: 1 }]);
    await queue.idle();
    expect(receiver.webhooks).toHaveLength(1);
  });

  it('of a user are removed by a deletion, also from the file', async () => {
    const folder = await temporaryFolder(cleanUp);
    const { post, kept, relay, json } = await start({
      options: { queue: sqliteQueue({ path: folder.path('relay.db') }) },
    });
    const secret = 'private-7a1b';
    await post({ batch: [track('m1', { userId: 'u7', event: 1, properties: { secret } }), track('m2', { event: 1 })] });
    await post({ batch: { userId: 'u7', secret } });
    await post(`{"batch":[{"userId":7,"secret":"${secret}"},`);
    await post({ batch: [track('m3', { properties: { secret, text: 'x'.repeat(40_000) }, userId: 'u7' })] });
    await kept(5);
    expect(await relay.requestDeletion({ userId: 'u7', sources: ['shop'] })).toMatchObject({ refused: 3 });
    const { answer } = await json('DELETE', 'users/7', { body: {} });
    expect(answer).toMatchObject({ refused: 1 });
    expect((await kept(1)).map(({ messageId }) => messageId)).toEqual(['m2']);
    for (const name of ['relay.db', 'relay.db-wal']) {
      const bytes = await readFile(folder.path(name)).catch(() => Buffer.alloc(0));
      expect(bytes.includes(secret)).toBe(false);
    }
  });

  it('are the newest of each source, and none with a count of 0', async () => {
    const { post, kept } = await start({ options: { queue: memoryQueue({ retention: { refused: { count: 2 } } }) } });
    await post({ batch: [1, 2, 3].map((event) => track(`m${event}`, { event })) });
    expect((await kept(2)).map(({ messageId }) => messageId)).toEqual(['m3', 'm2']);
    const queue = memoryQueue({ retention: { refused: { count: 0 } } })();
    const none = await start({ options: { queue: () => queue } });
    await none.post({ batch: [track('m1', { event: 1 })] });
    await none.app.close();
    expect((await queue.refusals.page('shop', {}, { limit: 1 })).refusals).toEqual([]);
  });
});

/** Changes the text of a kept message, as if the rule that it broke had changed. */
async function mend({ logs }: DeliveryQueue, id: string, change: (text: string) => string): Promise<void> {
  const [record] = await logs.find(LOG, [id]);
  await logs.write(LOG, [{ ...record!, attachment: change(record!.attachment!) }]);
}
