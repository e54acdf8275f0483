import { gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';

describe.each(platforms)('The ingest endpoint on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  const start = () => startRelayApp(afterwards, createAdapter());

  it.each([
    ['identify', 'identify', { userId: 'u1' }],
    ['i', 'identify', { anonymousId: 'a1' }],
    ['track', 'track', { userId: 'u1', event: 'Order Completed' }],
    ['t', 'track', { userId: 'u1', event: 'Order Completed' }],
    ['page', 'page', { userId: 'u1' }],
    ['p', 'page', { userId: 'u1' }],
    ['screen', 'screen', { userId: 'u1', name: 'Cart' }],
    ['s', 'screen', { userId: 'u1', name: 'Cart' }],
    ['group', 'group', { userId: 'u1', groupId: 'g1' }],
    ['g', 'group', { userId: 'u1', groupId: 'g1' }],
    ['alias', 'alias', { userId: 'u2', previousId: 'u1' }],
    ['a', 'alias', { userId: 'u2', previousId: 'u1' }],
  ])('takes one message at /v1/%s', async (route, type, message) => {
    const { host, receiver } = await start();
    const answer = await post(`${host}/v1/${route}`, message);
    expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
    const [webhook] = await receiver.received(1);
    expect(webhook!.body.type).toBe(type);
  });

  it.each(['batch', 'import', 'b'])('takes an envelope at /v1/%s, and names the messages it refuses', async (route) => {
    const { host, receiver } = await start();
    const batch = [
      { type: 'track', userId: 'u1', event: 'Kept' },
      { type: 'track', event: 'Nobody did it' },
      { type: 'track', userId: 'u1' },
      { type: 'group', userId: 'u1', groupId: 'g1', traits: [] },
      { type: 'purchase', userId: 'u1' },
      'no message',
    ];
    const answer = await post(`${host}/v1/${route}`, { batch });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      success: true,
      rejected: [
        { index: 1, field: 'userId', code: 'no_user_anon_id', message: expect.any(String) },
        { index: 2, field: 'event', code: 'event_not_string', message: expect.any(String) },
        { index: 3, field: 'traits', code: 'traits_not_object', message: expect.any(String) },
        { index: 4, field: 'type', code: 'type_unknown', message: expect.any(String) },
        { index: 5, field: 'message', code: 'message_not_object', message: expect.any(String) },
      ],
    });
    const [webhook] = await receiver.received(1);
    expect(webhook!.body.event).toBe('Kept');
  });

  it('explains the first 100 that it refuses of a batch, and lists the others by index', async () => {
    const { host, receiver } = await start();
    const good = { type: 'track', userId: 'u1', event: 'Kept' };
    const answer = await post(`${host}/v1/batch`, { batch: [...Array<number>(2_400).fill(0), good] });
    const { rejected, ...rest } = (await answer.json()) as { rejected: { index: number }[] };
    const indexes = Array.from({ length: 2_400 }, (_, index) => index);
    expect(rejected.map(({ index }) => index)).toEqual(indexes.slice(0, 100));
    expect(rest).toEqual({ success: true, moreRejected: indexes.slice(100) });
    await receiver.received(1);
  });

  it('takes a batch of 500 KB, whatever its content type, plain or gzipped', async () => {
    const { host, receiver } = await start();
    const message = { type: 'track', userId: 'u1', event: 'Large', properties: { text: 'x'.repeat(30_000) } };
    const body = JSON.stringify({ writeKey: 'wk_shop', batch: Array.from({ length: 16 }, () => message) });
    const plain = await fetch(`${host}/v1/batch`, { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body });
    expect(plain.status).toBe(200);
    const gzipped = await fetch(`${host}/v1/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Encoding': 'gzip' },
      body: gzipSync(body),
    });
    expect(gzipped.status).toBe(200);
    await receiver.received(32);
  });

  it('finds the write key in the header or in the body, and refuses an unknown one', async () => {
    const { host, relay } = await start();
    const message = { userId: 'u1', event: 'Order Completed' };
    const send = (authorization: string | undefined, body: object) =>
      fetch(`${host}/v1/track`, {
        method: 'POST',
        headers: authorization === undefined ? {} : { Authorization: authorization },
        body: JSON.stringify(body),
      });
    const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;
    expect((await send(basic('wk_shop:'), message)).status).toBe(200);
    expect((await send(basic('wk_shop'), message)).status).toBe(200);
    expect((await send('Bearer wk_shop', message)).status).toBe(200);
    expect((await send(undefined, { ...message, writeKey: 'wk_shop' })).status).toBe(200);
    expect((await send(basic(':'), { ...message, writeKey: 'wk_shop' })).status).toBe(200);
    const unknown = 'no source has this write key';
    const missing =
      'the request has no write key: send it as the Basic user name, as a Bearer token or as writeKey in the body';
    for (const [refused, text] of [
      [await send(basic('wk_other:'), message), unknown],
      [await send(undefined, { ...message, writeKey: 'wk_other' }), unknown],
      [await send(undefined, message), missing],
      [await send(basic(':'), { ...message, writeKey: '' }), missing],
    ] as const) {
      expect(refused.status).toBe(401);
      expect(await refused.json()).toEqual({ code: 'write_key_unknown', field: 'writeKey', message: text });
    }
    await expect(relay.accept('wk_other', [message])).rejects.toThrow('no source has this write key');
    await expect(relay.accept(undefined as never, [message])).rejects.toThrow('no source has this write key');
  });

  it('names a message of its own process that JSON cannot hold, and takes the others', async () => {
    const { relay, receiver } = await start();
    const message = { type: 'track', userId: 'u1', event: 'Order Completed' };
    const faulty = [
      { ...message, properties: { total: 1n } },
      { ...message, context: { toJSON: () => JSON.parse('') as unknown } },
    ];
    const refusal = { field: 'message', code: 'message_not_json', message: expect.any(String) };
    expect(await relay.accept('wk_shop', [...faulty, message])).toEqual({
      accepted: 1,
      rejected: [
        { index: 0, ...refusal },
        { index: 1, ...refusal },
      ],
    });
    await receiver.received(1);
  });

  it.each([null, undefined, {}])('refuses messages of its own process that are no array: %j', async (messages) => {
    const { relay } = await start();
    await expect(relay.accept('wk_shop', messages as never)).rejects.toThrow('messages must be an array');
  });

  it('stores nothing of what has an unknown key in its body, or none', async () => {
    const { host, relay } = await start();
    const batch = [{ type: 'track', userId: 'u1', event: 'Order Completed' }];
    for (const writeKey of ['wk_other', '', null, ['wk_shop'], undefined]) {
      const answer = await fetch(`${host}/v1/batch`, { method: 'POST', body: JSON.stringify({ batch, writeKey }) });
      expect([answer.status, await answer.json()]).toMatchObject([401, { code: 'write_key_unknown' }]);
    }
    expect(await relay.deliveries()).toEqual([]);
  });

  it.each([
    ['no JSON', '{', 400, 'body_not_json', 'body'],
    ['no object', '[]', 401, 'write_key_unknown', 'writeKey'],
    ['no batch', { writeKey: 'wk_shop' }, 400, 'batch_not_array', 'batch'],
    ['more than 516 KB', ' '.repeat(528_385), 413, 'body_too_large', 'body'],
  ])('refuses a body that is %s', async (_case, body, status, code, field) => {
    const { host } = await start();
    const answer = await fetch(`${host}/v1/batch`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ code, field, message: expect.any(String) });
  });

  it('takes a body of 528,384 bytes, and none of a byte more', async () => {
    const { host } = await start();
    for (const [length, status] of [
      [528_384, 200],
      [528_385, 413],
    ] as const) {
      const body = JSON.stringify({ writeKey: 'wk_shop', batch: [] }).padEnd(length);
      expect((await post(`${host}/v1/batch`, body)).status).toBe(status);
      const gzipped = { method: 'POST', headers: { 'Content-Encoding': 'gzip' }, body: gzipSync(body) };
      expect((await fetch(`${host}/v1/batch`, gzipped)).status).toBe(status);
    }
  });

  it('takes a message of 32,768 bytes, and none of a byte more', async () => {
    const { host } = await start();
    const message = { type: 'track', userId: 'u1', event: 'Large', properties: { text: 'ü' } };
    const ofSize = (size: number) => {
      const text = `ü${'x'.repeat(size - Buffer.byteLength(JSON.stringify(message)))}`;
      return { ...message, properties: { text } };
    };
    const [largest, larger] = [ofSize(32_768), ofSize(32_769)];
    expect((await post(`${host}/v1/track`, largest)).status).toBe(200);
    expect((await post(`${host}/v1/track`, larger)).status).toBe(400);
    const answer = await post(`${host}/v1/batch`, { batch: [largest, larger] });
    expect(await answer.json()).toMatchObject({ rejected: [{ index: 1, code: 'message_too_large' }] });
  });

  it.each([
    ['properties_not_object', 'properties', 'track', { properties: [] }],
    ['timestamp_invalid', 'timestamp', 'track', { timestamp: 'May' }],
    ['timestamp_invalid', 'timestamp', 'track', { timestamp: '2026-02-30T00:00:00.000Z' }],
    ['timestamp_invalid', 'timestamp', 'track', { timestamp: '9999-12-31T23:59:59-01:00' }],
    ['message_id_too_long', 'messageId', 'track', { messageId: 'x'.repeat(100) }],
    ['message_id_not_string', 'messageId', 'track', { messageId: 1 }],
    ['user_id_not_string', 'userId', 'track', { userId: 1.5 }],
    ['anonymous_id_not_string', 'anonymousId', 'track', { anonymousId: 2 ** 53 }],
    ['context_not_object', 'context', 'track', { context: 'x' }],
    ['integrations_not_object', 'integrations', 'track', { integrations: [] }],
    ['traits_not_object', 'traits', 'identify', { traits: 'x' }],
    ['name_not_string', 'name', 'page', { name: 1 }],
    ['category_not_string', 'category', 'page', { category: 1 }],
    ['group_id_not_string', 'groupId', 'group', {}],
    ['group_id_not_string', 'groupId', 'group', { groupId: true }],
    ['previous_id_not_string', 'previousId', 'alias', {}],
  ])('refuses a message with %s, alone and in a batch', async (code, field, type, fault) => {
    const { host, relay } = await start();
    const message = { userId: 'u1', event: 'Order Completed', ...fault };
    const refusal = { code, field, message: expect.stringContaining(`${field} must`) };
    const answer = await post(`${host}/v1/${type}`, message);
    expect([answer.status, await answer.json()]).toEqual([400, refusal]);
    for (const context of [undefined, {}]) {
      const named = await post(`${host}/v1/batch`, { context, batch: [{ ...message, type }] });
      expect(await named.json()).toEqual({ success: true, rejected: [{ index: 0, ...refusal }] });
    }
    expect(await relay.deliveries()).toEqual([]);
  });

  it.each([
    ['as Python writes it', (body: object) => JSON.stringify(body).replaceAll(':', ': ')],
    ['as JavaScript writes it', (body: object) => JSON.stringify(body)],
  ])('forwards an integer in an id as its decimal text, %s', async (_case, write) => {
    const { host, relay, receiver } = await start();
    const ids = { userId: 42, anonymousId: -7 };
    const batch = [
      { type: 'track', ...ids, event: 'Ordered', properties: { userId: 42 } },
      { type: 'group', ...ids, groupId: 9007199254740991 },
      { type: 'alias', userId: 43, previousId: 0 },
    ];
    const answer = await post(`${host}/v1/batch`, write({ batch }));
    expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
    const bodies = (await receiver.received(3)).map(({ body }) => body);
    const texts = { userId: '42', anonymousId: '-7' };
    expect(bodies.find(({ type }) => type === 'track')).toMatchObject({ ...texts, properties: { userId: 42 } });
    expect(bodies.find(({ type }) => type === 'group')).toMatchObject({ ...texts, groupId: '9007199254740991' });
    expect(bodies.find(({ type }) => type === 'alias')).toMatchObject({ 'User ID': '43', 'Previous ID': '0' });
    expect(await relay.deliveries({ userId: '42' })).toHaveLength(2);
  });

  it('refuses only the messages of a batch that contain NaN or Infinity', async () => {
    const { host, receiver } = await start();
    const track = (properties: string) =>
      `{"type": "track", "userId": "u1", "event": "Ordered", "properties": ${properties}}`;
    const texts = ['{"text": "NaN \\"Infinity"}', '{"total": NaN}', '{"all": [-Infinity, 1]}', 'NaN', '{"total": 1}'];
    for (const context of ['{}', '{"app": "shop"}']) {
      const body = `{"sentAt": "2026-01-02T03:04:05Z", "context": ${context}, "batch": [${texts.map(track).join(', ')}]}`;
      const answer = await post(`${host}/v1/batch`, body);
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { rejected: [1, 2, 3].map((index) => ({ index, code: 'message_not_json', field: 'message' })) },
      ]);
    }
    const bodies = (await receiver.received(4)).map(({ body }) => body.properties);
    expect(bodies).toEqual(expect.arrayContaining([{ text: 'NaN "Infinity' }, { total: 1 }]));
  });

  it.each([
    ['batch', '{"batch": [], "context": {"load": NaN}}', 'body_not_json'],
    ['batch', '{"batch": [{"a": NaN}', 'body_not_json'],
    ['batch', `{"batch": [NaN, "${'\\"'.repeat(200_000)}`, 'body_not_json'],
    ['track', '{"userId": "u1", "event": "Ordered", "properties": {"total": NaN}}', 'message_not_json'],
  ])('refuses a body at /v1/%s whose NaN belongs to no message of a batch: %.50s', async (route, body, code) => {
    const { host } = await start();
    const answer = await post(`${host}/v1/${route}`, body);
    expect([answer.status, await answer.json()]).toMatchObject([400, { code }]);
  });

  it('takes a messageId of 99 characters', async () => {
    const { host, receiver } = await start();
    const messageId = 'x'.repeat(99);
    expect((await post(`${host}/v1/track`, { userId: 'u1', event: 'Ordered', messageId })).status).toBe(200);
    const [webhook] = await receiver.received(1);
    expect(webhook!.headers['x-message-id']).toBe(messageId);
  });

  it.each(['batch', 'track'])('refuses a body at /v1/%s that is no object', async (route) => {
    const { host } = await start();
    const answer = await post(`${host}/v1/${route}`, '[]');
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { code: 'body_not_object', field: 'body', message: 'the body must be an object' },
    ]);
  });

  it.each([
    ['its type is told by the path', '{"userId":"u1","event":"E","properties":{"text":"TEXT"}}'],
    ['it has another type than its path', '{"type":"TYPE","userId":"u1","event":"E","properties":{"text":"TEXT"}}'],
    ['its numbers are written shorter', '{"userId":"u1","event":"E","properties":{"a":[NUMBERS],"text":"TEXT"}}'],
  ])('measures a message without its white space where %s', async (_case, layout) => {
    const { host } = await start();
    const shorter = layout.replace('TYPE', 't'.repeat(40)).replace('NUMBERS', Array(1_000).fill('1e20').join());
    const size = Buffer.byteLength(JSON.stringify(JSON.parse(shorter))) - 'TEXT'.length;
    for (const [length, status] of [
      [32_768, 200],
      [32_769, 400],
    ] as const) {
      const text = shorter.replace('TEXT', 'x'.repeat(length - size));
      for (const spaced of [text, text.replace(':', ': '), `${text}${' '.repeat(500)}`]) {
        expect((await post(`${host}/v1/track`, spaced)).status).toBe(status);
      }
    }
  });

  it('refuses a message above 32 KB', async () => {
    const { host } = await start();
    const message = { userId: 'u1', event: 'Large', properties: { text: 'ü'.repeat(17_000) } };
    const answer = await post(`${host}/v1/track`, message);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { code: 'message_too_large', field: 'message', message: 'a message must not exceed 32768 bytes' },
    ]);
  });

  it('keeps a given timestamp, and sets the time of receipt where there is none', async () => {
    const { host, receiver } = await start();
    const timestamp = '2012-12-02T00:30:12.984Z';
    await post(`${host}/v1/track`, { userId: 'u1', event: 'Past', timestamp });
    const [past] = await receiver.received(1);
    expect(past!.body.timestamp).toBe(timestamp);

    const before = Date.now();
    await post(`${host}/v1/track`, { userId: 'u1', event: 'Now' });
    const now = Date.parse((await receiver.received(2))[1]!.body.timestamp as string);
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04:05.678901', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02t03:04z', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02T03:04:05,5+0130', '2026-01-02T01:34:05.500Z'],
    ['2026-01-02T03:04:05-05', '2026-01-02T08:04:05.000Z'],
    ['2028-02-29T23:59:59+14:00', '2028-02-29T09:59:59.000Z'],
  ])('forwards the timestamp %s as %s', async (timestamp, forwarded) => {
    const { host, receiver } = await start();
    await post(`${host}/v1/track`, { userId: 'u1', event: 'Past', timestamp });
    expect((await receiver.received(1))[0]!.body.timestamp).toBe(forwarded);
  });

  it('takes an empty timestamp for none', async () => {
    const { host, receiver } = await start();
    const before = Date.now();
    await post(`${host}/v1/track`, { userId: 'u1', event: 'Now', timestamp: '' });
    const [webhook] = await receiver.received(1);
    expect(Date.parse(webhook!.body.timestamp as string)).toBeGreaterThanOrEqual(before);
  });

  it.each([
    ['corrects an originalTimestamp by sentAt', '2026-01-02T03:04:05.000Z', '2026-01-02T03:05:05.000Z', 60_000],
    ['sets the time of receipt where sentAt is missing', '2026-01-02T03:04:05.000Z', undefined, 0],
    ['sets the time of receipt where originalTimestamp is missing', undefined, '2026-01-02T03:05:05.000Z', 0],
    ['sets the time of receipt where they are too far apart', '0001-01-01T00:00:00Z', '9999-12-31T00:00:00Z', 0],
    ['sets the time of receipt where they are so the other way', '9999-12-31T00:00:00Z', '0001-01-01T00:00:00Z', 0],
  ])('%s', async (_case, originalTimestamp, sentAt, beforeReceipt) => {
    const { host, receiver } = await start();
    const before = Date.now();
    const message = { type: 'track', userId: 'u1', event: 'Order Completed', originalTimestamp };
    await post(`${host}/v1/batch`, { sentAt, batch: [message] });
    await post(`${host}/v1/track`, { ...message, sentAt });
    for (const { body } of await receiver.received(2)) {
      const receipt = Date.parse(body.timestamp as string) + beforeReceipt;
      expect(receipt).toBeGreaterThanOrEqual(before);
      expect(receipt).toBeLessThanOrEqual(Date.now());
    }
  });
});
