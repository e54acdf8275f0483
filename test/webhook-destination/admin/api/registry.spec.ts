import { hostname } from 'node:os';

import { verifyStandardWebhook } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onFastify } from '../../../support/platforms.js';
import { Receiver } from '../../../support/receiver.js';
import { waitFor } from '../../../support/wait-for.js';
import { followAudit, READ_TOKEN, startApi, TOKEN, track } from './support.js';

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
      answer: { code: 'destination_exists', field: 'name' },
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
    expect((await json('POST', `${path}/enable`)).status).toBe(200);
    expect((await json('POST', `${path}/test`, { body: { event: 'Order Tested' } })).answer).toMatchObject({
      results: [{ status: 200, outcome: 'success', url: `${receiver.url}/acme` }],
    });
    expect(receiver.webhooks.at(-1)!.body).toMatchObject({ event: 'Order Tested' });
    const rotated = await json('POST', `${path}/rotate-secret`, { body: { overlap: 1_000 } });
    expect(rotated.answer.sharedSecret).not.toBe(created.answer.sharedSecret);
    expect(rotated.answer.previousSecretUntil).toEqual(expect.any(Number));
    const ended = await json('POST', `${path}/end-overlap`);
    expect([ended.status, ended.answer.previousSecretUntil]).toEqual([200, undefined]);
    expect(await json('DELETE', path)).toMatchObject({ status: 200, answer: { removed: name } });
    expect(await json('GET', path)).toMatchObject({ status: 404, answer: { code: 'destination_unknown' } });
    expect(await json('POST', `${path}/pause`)).toMatchObject({ status: 404 });

    expect(await json('POST', 'sources', { body: { name: 'app' } })).toMatchObject({
      status: 200,
      answer: { name: 'app', writeKey: expect.stringMatching(/^wk_/) },
    });
    expect((await json('POST', 'sources/app/rotate-key')).answer).toMatchObject({ writeKey: expect.any(String) });
    expect((await json('POST', 'sources/app/end-overlap')).answer).not.toHaveProperty('previousKeyUntil');
    expect((await get('sources')).sources).toMatchObject([{ name: 'app' }, { name: 'shop', origin: 'fixed' }]);
    expect((await json('DELETE', 'sources/app')).status).toBe(200);
    const verbs = ['create', 'update', 'pause', 'resume', 'enable', 'test', 'rotate-secret', 'end-overlap', 'remove'];
    const changes = audit.filter(({ action }) => action !== 'change.failed');
    expect(changes.map(({ action }) => action)).toEqual([
      ...verbs.map((verb) => `destination.${verb}`),
      ...['create', 'rotate-key', 'end-overlap', 'remove'].map((verb) => `source.${verb}`),
    ]);
    expect(changes[1]).toMatchObject({ by: 'token', target: name, details: { events: ['Order *'] } });
    expect(JSON.stringify(audit)).not.toMatch(/s3cret|whsec_|wk_/);
  });

  it('cannot be changed where they are declared in code, and the answer says so', async () => {
    const { json } = await startApi(cleanUp, createAdapter());
    for (const [method, path, body, field] of [
      ['POST', 'destinations', { name: 'New', urls: ['https://x.example/'] }, 'registry'],
      ['PATCH', 'destinations/Webhooks', { enabled: false }, 'name'],
      ['DELETE', 'destinations/Webhooks', {}, 'name'],
      ['POST', 'destinations/Webhooks/pause', {}, 'name'],
      ['POST', 'destinations/Webhooks/rotate-secret', {}, 'name'],
      ['POST', 'sources', { name: 'new' }, 'registry'],
      ['DELETE', 'sources/shop', {}, 'name'],
      ['POST', 'sources/shop/rotate-key', {}, 'name'],
    ] as const) {
      const { status, answer } = await json(method, path, { body });
      expect([method, path, status, answer.code, answer.field]).toEqual([
        method,
        path,
        409,
        'registry_read_only',
        field,
      ]);
    }
    expect((await json('POST', 'destinations/Webhooks/test')).answer).toMatchObject({ results: [{ status: 200 }] });
  });

  it('send concealed headers and valid signatures to a new origin only if these are given again, and the audit names it', async () => {
    const { json, relay, receiver } = await start();
    const other = await Receiver.start();
    cleanUp(() => other.stop());
    const audit = followAudit(relay);
    const secret = 's3cret-of-the-present-receiver';
    const headers = { 'X-Key': 's3cret-header' };
    const body = { name: 'crm', urls: [`${receiver.url}?s3cret`], headers, sharedSecret: secret };
    await json('POST', 'destinations', { body });
    const path = 'destinations/crm';
    const urls = [receiver.url, `${other.url}?s3cret`];
    const origin = new URL(other.url).origin;
    const cause = `because urls has the new origin ${origin}`;
    expect(await json('PATCH', path, { body: { urls } })).toMatchObject({
      status: 400,
      answer: {
        code: 'options_invalid',
        field: 'headers',
        message:
          `Destination "crm": \n  - headers must be given again, or null to remove them, ${cause}` +
          `\n  - sharedSecret must be given, the present one or a new one, or null to generate one, ${cause}`,
      },
    });
    expect((await json('PATCH', path, { body: { urls, headers: {} } })).answer).toMatchObject({
      field: 'sharedSecret',
    });
    expect((await json('PATCH', path, { body: { sharedSecret: 'x' } })).answer).toMatchObject({
      field: 'sharedSecret',
    });
    await json('POST', `${path}/test`);
    expect([receiver.webhooks.length, other.webhooks.length]).toEqual([1, 0]);
    // A rotation with a secret of one's own leaves the previous one valid, also for the next requests.
    await json('POST', `${path}/rotate-secret`, { body: { secret: 'the-secret-of-an-intruder' } });

    const changed = await json('PATCH', path, { body: { urls, headers: null, sharedSecret: null } });
    expect(changed).toMatchObject({
      status: 200,
      answer: { headers: [], sharedSecret: expect.stringMatching(/^whsec_/) },
    });
    expect(changed.answer).not.toHaveProperty('previousSecretUntil');
    await json('POST', `${path}/test`);
    const [sent] = other.webhooks;
    expect(sent!.headers).not.toHaveProperty('x-key');
    expect(sent!.headers).not.toHaveProperty('x-signature-previous');
    const generated = changed.answer.sharedSecret as string;
    expect(verifyStandardWebhook(sent!.raw, sent!.headers, generated)).toBe(true);
    for (const known of [secret, 'the-secret-of-an-intruder']) {
      expect(verifyStandardWebhook(sent!.raw, sent!.headers, known)).toBe(false);
    }

    expect((await json('PATCH', path, { body: { urls: [`${receiver.url}/elsewhere`] } })).status).toBe(200);
    const kept = { urls, headers, sharedSecret: generated };
    expect((await json('PATCH', path, { body: kept })).answer).not.toHaveProperty('sharedSecret');
    await json('POST', `${path}/test`);
    const last = other.webhooks.at(-1)!;
    expect(last.headers['x-key']).toBe('s3cret-header');
    expect(verifyStandardWebhook(last.raw, last.headers, generated)).toBe(true);

    const changes = audit.filter(({ action }) => action === 'destination.update').map(({ details }) => details);
    expect(changes[0]).toEqual({ urls: [new URL(receiver.url).origin, origin], headers: '***', sharedSecret: '***' });
    expect(JSON.stringify(audit)).not.toMatch(/s3cret|whsec_|intruder/);
  });

  it('are tested with a message whose contents stay out of the audit log', async () => {
    const { json, relay } = await startApi(cleanUp, createAdapter());
    const audit = followAudit(relay);
    const body = { type: 'identify', userId: 'jane', messageId: 'm1', traits: { email: 'jane@shop.example' } };
    expect((await json('POST', 'destinations/Webhooks/test', { body })).status).toBe(200);
    expect(audit).toMatchObject([{ action: 'destination.test', target: 'Webhooks' }]);
    expect(audit[0]!.details).toEqual({ type: 'identify' });
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
          { name: 'Made', urls: ['https://receiver.example/'], transform: () => ({ made: true }) },
        ],
      },
    });
    const message = track('m1', { properties: { text: '<script>' }, integrations: { Shy: false } });
    const { status, answer } = await json('POST', 'explain', { body: { message, source: 'shop' }, token: READ_TOKEN });
    const body = expect.stringContaining('"event":"Ordered"') as string;
    expect([status, answer]).toMatchObject([200, { accepted: true, source: 'shop', messageId: 'm1', body, left: 0 }]);
    expect(answer.destinations).toMatchObject([
      {
        destination: 'Every',
        selected: true,
        request: {
          urls: ['https://receiver.example/hook'],
          headers: {
            'Content-Type': 'application/json',
            'X-Message-Id': 'm1',
            'X-Signature': '***',
            'X-Key': '***',
            Authorization: '***',
          },
        },
      },
      { destination: 'Made', selected: true, request: { body: '{"made":true}' } },
      { destination: 'Dropped', selected: true, request: { note: 'transform sends nothing' } },
      { destination: 'Shy', selected: false, reason: 'integrations' },
      { destination: 'Paid', reason: 'event' },
      { destination: 'Pages', reason: 'type' },
      { destination: 'Off', reason: 'disabled' },
    ]);
    expect(answer.ofOtherSources).toBe(1);
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

  it('are explained where the message goes first, then the nearest misses; those of other sources are one number', async () => {
    const urls = ['https://receiver.example/'];
    const others = Array.from({ length: 150 }, (_, index) => ({ name: `a-${index}`, urls, sources: ['app'] }));
    const { json, relay, get, receiver } = await startApi(cleanUp, createAdapter(), {
      options: {
        sources: [
          { name: 'shop', writeKey: 'wk_shop' },
          { name: 'app', writeKey: 'wk_app' },
        ],
        destinations: [
          ...others,
          { name: 'b-off', urls, enabled: false },
          { name: 'c-type', urls, types: ['page'] },
          { name: 'd-event', urls, events: ['Paid'] },
          { name: 'e-integration', urls },
          { name: 'z', urls: ['http://127.0.0.1:9/'], sources: ['shop'] },
        ],
      },
    });
    const body = { source: 'shop', message: track('m1', { integrations: { 'e-integration': false } }) };
    const { answer } = await json('POST', 'explain', { body });
    const names = (list: unknown) => (list as { destination: string }[]).map(({ destination }) => destination);
    expect(names(answer.destinations)).toEqual(['z', 'e-integration', 'd-event', 'c-type', 'b-off']);
    expect(answer).toMatchObject({ left: 0, ofOtherSources: 150 });
    await relay.accept('wk_shop', [track('m1', { integrations: { 'e-integration': false } })]);
    const [delivery] = await relay.deliveries({ destination: 'z' });
    const shown = await get(`deliveries/${delivery!.id}`);
    expect(names(shown.routing)).toEqual(['z', 'e-integration', 'd-event', 'c-type', 'b-off']);
    expect(shown).toMatchObject({ left: 0, ofOtherSources: 150 });
    expect(receiver.webhooks).toEqual([]);
  });

  it('are explained with the common body once, at most 100 of them, and fewer if their transforms make much', async () => {
    const destinations = (transform?: () => object) =>
      Array.from({ length: 150 }, (_, index) => ({
        name: `to-${index}`,
        urls: ['https://receiver.example/'],
        transform,
      }));
    const text = '"'.repeat(15_000);
    const explain = async (transform?: () => object) => {
      const options = { destinations: destinations(transform) };
      const { json } = await startApi(cleanUp, createAdapter(), { options });
      const body = track('m1', { properties: { text } });
      const { answer } = await json('POST', 'explain', { body, token: READ_TOKEN });
      return { shown: answer.destinations.length, left: answer.left, size: JSON.stringify(answer).length };
    };
    const common = await explain();
    expect(common).toMatchObject({ shown: 100, left: 50 });
    expect(common.size).toBeLessThan(100_000);
    expect(await explain(() => ({ text: 'x'.repeat(300_000) }))).toMatchObject({ shown: 4, left: 146 });
  });

  it('are explained by a write key no more than once a second to those who may only read', async () => {
    const { json } = await startApi(cleanUp, createAdapter());
    const explain = (writeKey: string | undefined, token: string) =>
      json('POST', 'explain', { body: { ...track('m1'), writeKey }, token });
    expect((await explain('wk_guess', READ_TOKEN)).answer).toMatchObject({ fault: { code: 'write_key_unknown' } });
    const { status, answer, response } = await explain('wk_shop', READ_TOKEN);
    expect([status, answer]).toMatchObject([429, { code: 'rate_limited', field: 'writeKey' }]);
    expect(response.headers.get('retry-after')).toBe('1');
    expect((await explain(undefined, READ_TOKEN)).status).toBe(200);
    for (const key of ['wk_shop', 'wk_guess']) expect((await explain(key, TOKEN)).status).toBe(200);
    await waitFor(async () => (await explain('wk_shop', READ_TOKEN)).status === 200);
  });

  it('are tested without the answer naming an internal address', async () => {
    const { json } = await startApi(cleanUp, createAdapter(), {
      options: {
        destinations: [
          { name: 'Closed', urls: ['http://127.0.0.1:9/'] },
          { name: 'Local', urls: [`http://${hostname()}:9/`] },
        ],
      },
    });
    const errorOf = async (name: string) => {
      const { answer } = await json('POST', `destinations/${name}/test`);
      return (answer.results as { error: string }[])[0]!.error;
    };
    expect(await errorOf('Closed')).toBe('connect ECONNREFUSED ***:9');
    expect(await errorOf('Local')).not.toMatch(/\d+\.\d+\.\d+\.\d+/);
  });

  it('and what was posted come back as they are, whatever is in them', async () => {
    const { get, find, relay, json } = await start();
    const hostile = '"><script>alert(1)</script>\u202e\u2066\u0000\u2028é😀\ud800 ${x} {{y}} %00 ../';
    const deep = JSON.parse('['.repeat(50) + ']'.repeat(50)) as unknown;
    const properties = { [hostile]: hostile.repeat(200), deep };
    const message = track(`m ${hostile}`.slice(0, 99), { userId: hostile, event: hostile, properties });
    await relay.accept('wk_shop', [message]);
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 1);
    const found = await find(`userId=${encodeURIComponent(hostile.replace('\ud800', ''))}`);
    expect(found).toEqual([]); // a lone surrogate has no form in a URL
    const deliveries = await find('');
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
