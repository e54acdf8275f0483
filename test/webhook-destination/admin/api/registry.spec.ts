import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onFastify } from '../../../support/platforms.js';
import { waitFor } from '../../../support/wait-for.js';
import { followAudit, READ_TOKEN, startApi, track } from './support.js';

describe.each(onFastify)('Sources and destinations by the API on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  const start = () => startApi(cleanUp, createAdapter(), { options: { registry: 'store' } });

  it('are created, changed, paused, resumed, tested, rotated and removed, and each change is on record', async () => {
    const { json, get, receiver, relay } = await start();
    const audit = followAudit(relay);
    const name = 'Acme <b>/é ?#%';
    const path = `destinations/${encodeURIComponent(name)}`;
    const created = await json('POST', 'destinations', {
      body: {
        name,
        urls: [`${receiver.url}/acme?s3cret-query`],
        metadata: { tenant: 'acme' },
        headers: { 'X-A': 's3cret-header' },
      },
    });
    expect(created).toMatchObject({
      status: 200,
      answer: {
        name,
        urls: [`${receiver.url}/acme`],
        sharedSecret: expect.stringMatching(/^whsec_/),
        headers: ['X-A'],
      },
    });
    expect(await json('POST', 'destinations', { body: { name, urls: [receiver.url] } })).toMatchObject({
      status: 409,
      answer: { code: 'destination_exists' },
    });
    const shown = await get(path);
    expect([shown.name, shown.sharedSecret, shown.signed]).toEqual([name, undefined, true]);
    expect((await get('destinations?metadata.tenant=acme')).destinations).toMatchObject([{ name }]);
    const first = await get('destinations?limit=1');
    expect([first.destinations.length, first.cursor]).toEqual([1, name]);
    expect(await get(`destinations?limit=1&cursor=${encodeURIComponent(name)}`)).toMatchObject({
      destinations: [{ name: 'Webhooks', origin: 'fixed' }],
    });

    expect(await json('PATCH', path, { body: { events: ['Order *'] } })).toMatchObject({
      status: 200,
      answer: { events: ['Order *'] },
    });
    expect(await json('PATCH', path, { body: { urls: ['ftp://x'] } })).toMatchObject({
      status: 400,
      answer: { code: 'options_invalid', field: 'urls', message: expect.stringContaining('urls') },
    });
    expect((await json('POST', `${path}/pause`)).answer).toMatchObject({ paused: true });
    expect((await json('POST', `${path}/resume`)).answer).toMatchObject({ paused: false });
    expect((await json('POST', `${path}/test`, { body: { event: 'Order Tested' } })).answer).toMatchObject({
      results: [{ status: 200, outcome: 'success', url: `${receiver.url}/acme` }],
    });
    expect(receiver.webhooks.at(-1)!.body).toMatchObject({ event: 'Order Tested' });
    const rotated = await json('POST', `${path}/rotate-secret`, { body: { overlap: 1_000 } });
    expect(rotated.answer.sharedSecret).not.toBe(created.answer.sharedSecret);
    expect(await json('DELETE', path)).toMatchObject({ status: 200, answer: { removed: name } });
    expect(await json('GET', path)).toMatchObject({ status: 404, answer: { code: 'destination_unknown' } });
    expect(await json('POST', `${path}/pause`)).toMatchObject({ status: 404 });

    expect(await json('POST', 'sources', { body: { name: 'app' } })).toMatchObject({
      status: 200,
      answer: { name: 'app', writeKey: expect.stringMatching(/^wk_/) },
    });
    expect((await json('POST', 'sources/app/rotate-key')).answer).toMatchObject({ writeKey: expect.any(String) });
    expect((await get('sources')).sources).toMatchObject([{ name: 'app' }, { name: 'shop', origin: 'fixed' }]);
    expect((await json('DELETE', 'sources/app')).status).toBe(200);
    const verbs = ['create', 'update', 'pause', 'resume', 'test', 'rotate-secret', 'remove'];
    const changes = audit.filter(({ action }) => action !== 'change.failed');
    expect(changes.map(({ action }) => action)).toEqual([
      ...verbs.map((verb) => `destination.${verb}`),
      ...['create', 'rotate-key', 'remove'].map((verb) => `source.${verb}`),
    ]);
    expect(changes[1]).toMatchObject({ by: 'token', target: name, details: { events: ['Order *'] } });
    expect(JSON.stringify(audit)).not.toMatch(/s3cret|whsec_|wk_/);
  });

  it('cannot be changed where they are declared in code, and the answer says so', async () => {
    const { json } = await startApi(cleanUp, createAdapter());
    for (const [method, path, body] of [
      ['POST', 'destinations', { name: 'New', urls: ['https://x.example/'] }],
      ['PATCH', 'destinations/Webhooks', { enabled: false }],
      ['DELETE', 'destinations/Webhooks', {}],
      ['POST', 'destinations/Webhooks/pause', {}],
      ['POST', 'destinations/Webhooks/rotate-secret', {}],
      ['POST', 'sources', { name: 'new' }],
      ['DELETE', 'sources/shop', {}],
      ['POST', 'sources/shop/rotate-key', {}],
    ] as const) {
      const { status, answer } = await json(method, path, { body });
      expect([method, path, status, answer.code]).toEqual([method, path, 409, 'registry_read_only']);
    }
    expect((await json('POST', 'destinations/Webhooks/test')).answer).toMatchObject({ results: [{ status: 200 }] });
  });

  it('are tested with a message whose contents stay out of the audit log', async () => {
    const { json, relay } = await startApi(cleanUp, createAdapter());
    const audit = followAudit(relay);
    const body = { type: 'identify', userId: 'jane', messageId: 'm1', traits: { email: 'jane@shop.example' } };
    expect((await json('POST', 'destinations/Webhooks/test', { body })).status).toBe(200);
    expect(audit).toMatchObject([{ action: 'destination.test', target: 'Webhooks' }]);
    expect(audit[0]!.details).toEqual({ type: 'identify', messageId: 'm1' });
  });

  it('are explained: who gets a message, why others do not, and what would be sent', async () => {
    const { json, relay, receiver } = await startApi(cleanUp, createAdapter(), {
      options: {
        sources: [
          { name: 'shop', writeKey: 'wk_shop' },
          { name: 'app', writeKey: 'wk_app' },
        ],
        destinations: [
          {
            name: 'Every',
            urls: ['https://s3cret-user:p@receiver.example/hook?s3cret-query'],
            sharedSecret: 'shh',
            headers: { 'X-Key': 'k' },
          },
          { name: 'App', urls: ['https://receiver.example/'], sources: ['app'] },
          { name: 'Off', urls: ['https://receiver.example/'], enabled: false },
          { name: 'Pages', urls: ['https://receiver.example/'], types: ['page'] },
          { name: 'Paid', urls: ['https://receiver.example/'], events: ['Paid'] },
          { name: 'Shy', urls: ['https://receiver.example/'] },
          { name: 'Dropped', urls: ['https://receiver.example/'], transform: () => undefined },
        ],
      },
    });
    const message = track('m1', { properties: { text: '<script>' }, integrations: { Shy: false } });
    const { status, answer } = await json('POST', 'explain', { body: { message, source: 'shop' }, token: READ_TOKEN });
    expect([status, answer]).toMatchObject([200, { accepted: true, source: 'shop', messageId: 'm1', left: 0 }]);
    expect(answer.destinations).toMatchObject([
      { destination: 'Dropped', selected: true, request: { note: 'transform sends nothing' } },
      {
        destination: 'Every',
        selected: true,
        request: {
          urls: ['https://receiver.example/hook'],
          body: expect.stringContaining('"event":"Ordered"'),
          headers: {
            'Content-Type': 'application/json',
            'X-Message-Id': 'm1',
            'X-Signature': '***',
            'X-Key': '***',
            Authorization: '***',
          },
        },
      },
      { destination: 'App', selected: false, reason: 'source' },
      { destination: 'Off', reason: 'disabled' },
      { destination: 'Pages', reason: 'type' },
      { destination: 'Paid', reason: 'event' },
      { destination: 'Shy', reason: 'integrations' },
    ]);
    const wrong = await json('POST', 'explain', { body: { source: 'app', message: { type: 'track', userId: 'u1' } } });
    expect(wrong).toMatchObject({
      status: 200,
      answer: { accepted: false, fault: { field: 'event', code: expect.any(String) } },
    });
    for (const body of [{ ...message, writeKey: 'wk_app' }, { message: { ...message, writeKey: 'wk_app' } }]) {
      expect((await json('POST', 'explain', { body })).answer).toMatchObject({ accepted: true, source: 'app' });
    }
    const unknown = await json('POST', 'explain', { body: { ...message, writeKey: 'wk_none' } });
    expect(unknown.answer).toMatchObject({ accepted: false, fault: { field: 'writeKey', code: 'write_key_unknown' } });
    for (const body of [{ message }, { message, source: 'none' }]) {
      expect(await json('POST', 'explain', { body })).toMatchObject({
        status: 400,
        answer: { code: 'argument_invalid' },
      });
    }
    expect([await relay.deliveries({}), receiver.webhooks]).toEqual([[], []]);
  });

  it('and what was posted come back as they are, whatever is in them', async () => {
    const { get, relay, json } = await start();
    const hostile = '"><script>alert(1)</script>\u202e\u2066\u0000\u2028é😀\ud800 ${x} {{y}} %00 ../';
    const deep = JSON.parse('['.repeat(50) + ']'.repeat(50)) as unknown;
    const properties = { [hostile]: hostile.repeat(200), deep };
    const message = track(`m ${hostile}`.slice(0, 99), { userId: hostile, event: hostile, properties });
    await relay.accept('wk_shop', [message]);
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 1);
    const found = await get(`deliveries?userId=${encodeURIComponent(hostile.replace('\ud800', ''))}`);
    expect(found.deliveries).toEqual([]); // a lone surrogate has no form in a URL
    const { deliveries } = await get('deliveries');
    expect(deliveries).toMatchObject([{ userId: hostile, event: hostile, messageId: message.messageId }]);
    const { body } = await get(`deliveries/${deliveries[0]!.id}`);
    expect((JSON.parse(body) as { properties: object }).properties).toEqual(properties);
    const name = hostile.replace('\ud800', '').replace('\u0000', '');
    const created = await json('POST', 'destinations', {
      body: { name, urls: ['https://receiver.example/'], metadata: { note: hostile } },
    });
    expect(created).toMatchObject({ status: 200, answer: { name, metadata: { note: hostile } } });
    expect(await get(`destinations/${encodeURIComponent(name)}`)).toMatchObject({ name });
    expect((await json('POST', 'explain', { body: message })).answer).toMatchObject({ accepted: true });
    for (const fields of ['__proto__', 'constructor', 'toString']) {
      expect((await json('GET', `deliveries?${fields}=x`)).status).toBe(400);
      expect((await json('GET', `destinations/${fields}`)).status).toBe(404);
    }
  });
});
