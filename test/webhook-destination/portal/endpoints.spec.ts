import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { memoryQueue, verifyStandardWebhook } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { onExpress, platforms } from '../../support/platforms.js';
import { Receiver } from '../../support/receiver.js';
import { hang, ScriptedReceiver } from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';
import { startPortal, track } from './support.js';

const URL_OF_NOBODY = 'https://receiver.example/hook';

describe.each(platforms)('Endpoints in the portal on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('are created, changed, paused, rotated and removed by their tenant', async () => {
    const { relay, receiver, tokenOf, as } = await startPortal(afterwards, createAdapter());
    const acme = as(await tokenOf('acme'));
    const { secret, ...created } = await acme('POST', 'endpoints', {
      url: `${receiver.url}?key=4711`,
      events: ['Order *'],
      description: 'Orders',
    });
    expect(secret).toMatch(/^whsec_/);
    expect(created).toEqual({
      id: expect.stringMatching(/^ep_[\w-]{20}$/),
      url: `${receiver.url}?key=4711`,
      description: 'Orders',
      events: ['Order *'],
      state: 'active',
      signature: 'v1',
      createdAt: expect.any(Number),
    });
    expect(await acme('GET', 'endpoints')).toEqual({ endpoints: [created] });
    const path = `endpoints/${created.id}`;
    expect(await acme('GET', path)).toEqual({ ...created, counts: { waiting: 0, delivered: 0, dead: 0 } });
    expect(await acme('GET', `${path}/secret`)).toEqual({ secret });

    const changed = await acme('PATCH', path, { events: null, description: 'All' });
    expect(changed).toEqual({ ...created, events: null, description: 'All' });
    expect(await acme('PATCH', path, {})).toEqual(changed);
    expect(await acme('POST', `${path}/pause`)).toMatchObject({ state: 'paused' });
    expect(await acme('POST', `${path}/resume`, {})).toMatchObject({ state: 'active' });

    const rotated = await acme('POST', `${path}/rotate-secret`, { overlap: 60_000 });
    expect(rotated).toMatchObject({ id: created.id, signature: 'v1', previousSecretUntil: expect.any(Number) });
    expect(await acme('GET', `${path}/secret`)).toEqual({
      secret: rotated.secret,
      previous: secret,
      previousSecretUntil: rotated.previousSecretUntil,
    });
    await relay.accept('wk_acme', [track('m1', { event: 'Anything' })]);
    const { raw, headers } = (await receiver.received(1))[0]!;
    for (const one of [secret!, rotated.secret!]) expect(verifyStandardWebhook(raw, headers, one)).toBe(true);

    // The operator sees it as a destination of the tenant.
    const [entry] = await relay.destinations.list({ metadata: { tenant: 'acme' }, after: 'operator' });
    expect(entry).toMatchObject({
      name: expect.stringMatching(/^portal-[\w-]{24}$/),
      integration: 'Webhooks',
      sources: ['acme'],
      types: ['track'],
      metadata: { tenant: 'acme', description: 'All' },
    });
    expect(await acme('DELETE', path)).toEqual({ removed: true });
    expect(await acme('GET', 'endpoints')).toEqual({ endpoints: [] });
  });

  it('are what the application created for the tenant as well', async () => {
    const { relay, receiver, tokenOf, as, refused } = await startPortal(afterwards, createAdapter());
    const token = await tokenOf('acme');
    await relay.destinations.create({
      name: 'acme/orders',
      urls: [`${receiver.url.replace('//', '//user:password@')}?key=of-the-application`],
      sharedSecret: 'of the application, for acme',
      sources: ['acme', 'shop'],
      headers: { 'X-Key': 'of-the-application' },
      metadata: { tenant: 'acme' },
    });
    const { endpoints } = await as(token)('GET', 'endpoints');
    expect(endpoints).toMatchObject([{ url: receiver.url, signature: 'v1', description: '' }]);
    const shown = await as(token)('GET', `endpoints/${endpoints[0]!.id as string}`);
    expect(shown.url).toBe(receiver.url);
    expect(JSON.stringify(shown)).not.toMatch(/password|of.the.application/);
    const secrets = await as(token)('GET', `endpoints/${endpoints[0]!.id as string}/secret`);
    expect(secrets).toEqual({ secret: 'of the application, for acme' });
    const read = await refused(await tokenOf('acme', 'read'))('GET', `endpoints/${endpoints[0]!.id as string}/secret`);
    expect(read).toMatchObject({ status: 403 });
    expect(JSON.stringify(endpoints)).not.toMatch(/acme|shop|of-the-application/);
    const path = `endpoints/${endpoints[0]!.id as string}`;
    await as(token)('PATCH', path, { url: `${receiver.url}2` });
    // Its headers must not reach a receiver that the tenant chooses.
    expect(await refused(token)('PATCH', path, { url: URL_OF_NOBODY })).toMatchObject({
      status: 400,
      field: 'url',
      message: 'url cannot be on another origin: the application has set headers for this endpoint',
    });
    expect((await relay.destinations.get('acme/orders'))!.sources).toEqual(['acme', 'shop']);
  });

  it('keep their secret at another origin, because it is that of the tenant', async () => {
    const { receiver, tokenOf, as } = await startPortal(afterwards, createAdapter());
    const other = await Receiver.start();
    afterwards(() => other.stop());
    const acme = as(await tokenOf('acme'));
    const { id, secret } = await acme('POST', 'endpoints', { url: receiver.url });
    const { previousSecretUntil } = await acme('POST', `endpoints/${id}/rotate-secret`, {});
    expect(await acme('PATCH', `endpoints/${id}`, { url: other.url })).toMatchObject({
      url: other.url,
      previousSecretUntil,
    });
    expect(await acme('GET', `endpoints/${id}/secret`)).toMatchObject({ previous: secret });
  });

  it('receive the messages of the sources of their tenant, also of later ones, and of no other', async () => {
    const { relay, receiver, tokenOf, as } = await startPortal(afterwards, createAdapter());
    await as(await tokenOf('acme'))('POST', 'endpoints', { url: `${receiver.url}/acme` });
    await as(await tokenOf('globex'))('POST', 'endpoints', { url: `${receiver.url}/globex` });
    const { writeKey } = await relay.sources.create({ name: 'acme-us', metadata: { tenant: 'acme' } });
    const accept = (key: string, id: string) => relay.accept(key, [track(id, { event: id })]);
    await accept('wk_acme', 'a1');
    await accept('wk_globex', 'g1');
    await accept(writeKey!, 'a2');
    await accept('wk_shop', 's1'); // to the operator
    const receivedBy = (path: string) =>
      receiver.webhooks.filter((webhook) => webhook.path === path).map(({ body }) => body.event);
    await receiver.received(4);
    expect(receivedBy('/hook/acme').sort()).toEqual(['a1', 'a2']);
    expect(receivedBy('/hook/globex')).toEqual(['g1']);

    // A source of the same name may later be that of another tenant.
    await relay.sources.update('acme-us', { metadata: { tenant: 'globex' } });
    await accept(writeKey!, 'g2');
    await receiver.received(5);
    expect(receivedBy('/hook/acme')).toHaveLength(2);
    expect(receivedBy('/hook/globex')).toEqual(['g1', 'g2']);
    const explained = await relay.explain(track('x1'), 'acme-us');
    expect(explained.destinations.filter(({ selected }) => selected)).toHaveLength(1);
  });

  it('receive nothing in a process without the option, whatever their sources were', async () => {
    const queue = memoryQueue()();
    const kept = () => queue;
    const { app, receiver, relay, tokenOf, as } = await startPortal(afterwards, createAdapter(), {
      options: { queue: kept },
    });
    await as(await tokenOf('acme'))('POST', 'endpoints', { url: receiver.url });
    const [entry] = await relay.destinations.list({ metadata: { tenant: 'acme' }, after: 'operator' });
    await app.close();
    const bare = await startPortal(afterwards, createAdapter(), { options: { queue: kept, portal: undefined } });
    expect(await bare.relay.destinations.get(entry!.name)).toMatchObject({ sources: [] });
    await bare.relay.accept('wk_acme', [track('a1')]);
    expect(await bare.relay.deliveries({ destination: entry!.name })).toEqual([]);
  });

  it('stay with their tenant, and those of an earlier destination with the same name are not shown', async () => {
    const { relay, receiver, tokenOf, as } = await startPortal(afterwards, createAdapter());
    const create = (tenant: string) =>
      relay.destinations.create({ name: 'crm', urls: [receiver.url], sources: [tenant], metadata: { tenant } });
    await create('acme');
    for (const metadata of [{ tenant: 'globex' }, {}, null] as (Record<string, string> | null)[]) {
      await expect(relay.destinations.update('crm', { metadata })).rejects.toThrow('metadata must keep the tenant');
    }
    expect(await relay.destinations.update('crm', { metadata: { tenant: 'acme', plan: 'pro' } })).toBeDefined();
    await relay.accept('wk_acme', [track('a1')]);
    await receiver.received(1);
    await relay.destinations.remove('crm');
    await setTimeout(2); // to be created at a later time
    await create('globex');
    const globex = as(await tokenOf('globex'));
    const { endpoints } = await globex('GET', 'endpoints');
    expect(await globex('GET', `endpoints/${String(endpoints[0]!.id)}/deliveries`)).toEqual({ deliveries: [] });
    expect(await globex('POST', `endpoints/${String(endpoints[0]!.id)}/replays`, { since: 0 })).toEqual({
      replayed: 0,
    });
  });

  it('are refused to a tenant without a source, which would receive nothing, or everything', async () => {
    const { relay, receiver, tokenOf, as, refused } = await startPortal(afterwards, createAdapter());
    const token = await tokenOf('new');
    expect(await refused(token)('POST', 'endpoints', { url: receiver.url })).toMatchObject({
      status: 409,
      code: 'tenant_without_source',
    });
    const { writeKey } = await relay.sources.create({ name: 'new', metadata: { tenant: 'new' } });
    await as(token)('POST', 'endpoints', { url: receiver.url });
    await relay.sources.remove('new');
    await relay.accept('wk_acme', [track('a1')]);
    expect(await relay.deliveries()).toEqual([]);
    await relay.sources.create({ name: 'new', writeKey: writeKey!, metadata: { tenant: 'new' } });
    await relay.accept(writeKey!, [track('n1', { event: 'n1' })]);
    expect((await receiver.received(1))[0]!.body.event).toBe('n1');
  });

  it('are no more than the limit, whatever runs at a time, and have its rate limit', async () => {
    const rateLimit = { requests: 5, per: 1_000 };
    const { relay, tokenOf, json, as } = await startPortal(afterwards, createAdapter(), {
      portal: { limits: { endpoints: 3, rateLimit } },
    });
    const token = await tokenOf('acme');
    const body = { url: URL_OF_NOBODY };
    const answers = await Promise.all(Array.from({ length: 8 }, () => json('POST', 'endpoints', { token, body })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({
      status: 409,
      answer: { code: 'endpoint_limit', message: 'there are 3 endpoints, which is the limit: remove one' },
    });
    const entries = await relay.destinations.list({ metadata: { tenant: 'acme' }, after: 'operator' });
    expect(entries.map((entry) => entry.rateLimit)).toEqual([rateLimit, rateLimit, rateLimit]);
    await as(await tokenOf('globex'))('POST', 'endpoints', body);
    const { endpoints } = await as(token)('GET', 'endpoints');
    await as(token)('DELETE', `endpoints/${endpoints[0]!.id as string}`);
    await as(token)('POST', 'endpoints', body);
  });

  it('send a test at once, whose attempt says in one word what is wrong', async () => {
    const { receiver, tokenOf, as } = await startPortal(afterwards, createAdapter());
    const acme = as(await tokenOf('acme'));
    const { id } = await acme('POST', 'endpoints', { url: receiver.url });
    const { attempt } = await acme('POST', `endpoints/${id}/test`, { event: 'Order Completed' });
    expect(attempt).toEqual({ at: expect.any(Number), outcome: 'success', status: 200, duration: expect.any(Number) });
    expect(receiver.webhooks[0]!.body).toMatchObject({ type: 'track', event: 'Order Completed' });

    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await acme('PATCH', `endpoints/${id}`, { url: `http://127.0.0.1:${port}/hook` });
    const failed = await acme('POST', `endpoints/${id}/test`, { event: 'Order Completed' });
    expect(failed.attempt).toMatchObject({ outcome: 'temporary', error: 'unreachable' });
    expect(JSON.stringify(failed)).not.toMatch(/127\.0\.0\.1|ECONN/);
  });
});

describe.each(onExpress)('Tests and pauses of a tenant', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('send a test to an endpoint that is paused, disabled or not enabled, which changes nothing of it', async () => {
    const { relay, receiver, tokenOf, as } = await startPortal(afterwards, createAdapter(), {
      portal: { disableAfter: 1 },
    });
    const acme = as(await tokenOf('acme'));
    const operational: string[] = [];
    relay.operational$.subscribe(({ type }) => operational.push(type));
    const { id } = await acme('POST', 'endpoints', { url: receiver.url });
    const test = async (status: number) => {
      receiver.statuses = [status];
      return (await acme('POST', `endpoints/${id}/test`, { event: 'Ordered' })).attempt;
    };
    expect(await test(500)).toMatchObject({ outcome: 'temporary', status: 500 });
    expect(await test(410)).toMatchObject({ outcome: 'permanent', status: 410 });
    expect(await acme('GET', `endpoints/${id}`)).toMatchObject({ state: 'active' });

    await acme('POST', `endpoints/${id}/pause`);
    expect(await test(200)).toMatchObject({ outcome: 'success' });
    expect(await acme('GET', `endpoints/${id}`)).toMatchObject({ state: 'paused' });
    await acme('POST', `endpoints/${id}/resume`);

    const [entry] = await relay.destinations.list({ metadata: { tenant: 'acme' }, after: 'operator' });
    const { name } = entry!;
    await relay.destinations.update(name, { enabled: false });
    expect(await test(200)).toMatchObject({ outcome: 'success' });
    await relay.destinations.update(name, { enabled: true });

    receiver.statuses = [410];
    await relay.accept('wk_acme', [track('m1')]);
    await waitFor(async () => (await acme('GET', `endpoints/${id}`)).state === 'disabled');
    expect(operational).toEqual(['delivery.exhausted', 'endpoint.disabled']);
    expect(await test(200)).toMatchObject({ outcome: 'success' });
    expect(await acme('GET', `endpoints/${id}`)).toMatchObject({ state: 'disabled', disabled: { reason: 'gone' } });
    expect(operational).toHaveLength(2);
  });

  it('run no more than three tests of a tenant at a time', async () => {
    const { tokenOf, json, as } = await startPortal(afterwards, createAdapter());
    const slow = await ScriptedReceiver.start(hang);
    afterwards(() => slow.stop());
    const token = await tokenOf('acme');
    const { id } = await as(token)('POST', 'endpoints', { url: slow.url });
    const test = () => json('POST', `endpoints/${id}/test`, { token, body: { event: 'Ordered' } });
    const running = [test(), test(), test()];
    await waitFor(() => slow.active === 3);
    const { status, answer, response } = await test();
    expect([status, answer.code, response.headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
    expect(answer.message).toBe('other tests are in progress; try again in 1 s');
    // Neither the tenant's other requests nor another tenant wait for them.
    await as(token)('GET', 'endpoints');
    const globex = await tokenOf('globex');
    const { id: other } = await as(globex)('POST', 'endpoints', { url: slow.url });
    running.push(json('POST', `endpoints/${other}/test`, { token: globex, body: { event: 'Ordered' } }));
    await waitFor(() => slow.active === 4);
    for (const socket of slow.sockets) socket.destroy();
    expect((await Promise.all(running)).map((one) => one.status)).toEqual([200, 200, 200, 200]);
    const again = test();
    await waitFor(() => slow.active === 1);
    for (const socket of slow.sockets) socket.destroy();
    expect((await again).status).toBe(200);
  });

  it('keep nothing waiting in the queue while an endpoint is paused, and send what was kept once it is resumed', async () => {
    const { relay, receiver, tokenOf, as, refused } = await startPortal(afterwards, createAdapter());
    const token = await tokenOf('acme');
    const acme = as(token);
    const { id } = await acme('POST', 'endpoints', { url: `${receiver.url}/acme` });
    expect(await acme('POST', `endpoints/${id}/pause`)).toMatchObject({ state: 'paused' });
    for (let number = 0; number < 40; number++) await relay.accept('wk_acme', [track(`m${number}`)]);
    await waitFor(async () => (await relay.deliveries({ reason: 'endpoint_paused' })).length === 40);
    // Another tenant is not held up.
    await as(await tokenOf('globex'))('POST', 'endpoints', { url: `${receiver.url}/globex` });
    await relay.accept('wk_globex', [track('g1')]);
    await receiver.received(1);
    const { deliveries } = await acme('GET', `endpoints/${id}/deliveries?state=dead&limit=1`);
    expect(deliveries).toMatchObject([{ messageId: 'm39', attempts: 0, reason: 'endpoint_paused' }]);
    expect(await refused(token)('POST', `endpoints/${id}/replays`, { since: 0 })).toMatchObject({
      status: 409,
      message: 'the endpoint is disabled or paused: enable or resume it first',
    });
    // A second pause keeps the first, and the application may have paused it, too.
    expect(await acme('POST', `endpoints/${id}/pause`)).toMatchObject({ disabled: { reason: 'paused' } });
    const [entry] = await relay.destinations.list({ metadata: { tenant: 'acme' }, after: 'operator' });
    await relay.destinations.pause(entry!.name);
    expect(await acme('POST', `endpoints/${id}/resume`)).toMatchObject({ id, state: 'active', replayed: 40 });
    await receiver.received(41);
    expect(await acme('POST', `endpoints/${id}/resume`)).toMatchObject({ state: 'active', replayed: 0 });
  });

  it('send what was kept beyond 10,000 without another request, also where it is enabled rather than resumed', async () => {
    const { relay, receiver, tokenOf, as } = await startPortal(afterwards, createAdapter());
    const acme = as(await tokenOf('acme'));
    const { id } = await acme('POST', 'endpoints', { url: receiver.url });
    await acme('POST', `endpoints/${id}/pause`);
    for (let batch = 0; batch < 21; batch++) {
      const messages = Array.from({ length: batch === 20 ? 1 : 500 }, (_, index) => track(`m${batch}-${index}`));
      await relay.accept('wk_acme', messages);
    }
    const dead = async () => (await relay.stats()).find(({ state }) => state === 'dead')?.count;
    await waitFor(async () => (await dead()) === 10_001);
    // A tenant has one replay at a time: the others leave it to that one.
    const answers = await Promise.all(Array.from({ length: 3 }, () => acme('POST', `endpoints/${id}/enable`)));
    expect(answers).toContainEqual(expect.objectContaining({ state: 'active', replayed: 10_000, more: true }));
    expect(answers).toContainEqual(expect.objectContaining({ replayed: 0, more: true }));
    await receiver.received(10_001);
  });

  it('send what was kept as soon as the queue lets them, when other searches take too long', async () => {
    const queue = memoryQueue()();
    const visit = queue.searches.visit.bind(queue.searches);
    let refusals = 0;
    const { relay, receiver, tokenOf, as } = await startPortal(afterwards, createAdapter(), {
      options: { queue: () => queue },
    });
    const acme = as(await tokenOf('acme'));
    const { id } = await acme('POST', 'endpoints', { url: receiver.url });
    await acme('POST', `endpoints/${id}/pause`);
    await relay.accept('wk_acme', [track('m1')]);
    await waitFor(async () => (await relay.deliveries({ reason: 'endpoint_paused' })).length === 1);
    queue.searches.visit = async (...search) => {
      if (refusals++ < 2) throw Object.assign(new Error('other searches took longer'), { code: 'too_many_searches' });
      return visit(...search);
    };
    expect(await acme('POST', `endpoints/${id}/resume`)).toMatchObject({ state: 'active', replayed: 0, more: true });
    await receiver.received(1);
    expect(refusals).toBe(3);
  });

  it('do not end a disablement by a resume', async () => {
    const { relay, receiver, tokenOf, as } = await startPortal(afterwards, createAdapter());
    const acme = as(await tokenOf('acme'));
    const { id } = await acme('POST', 'endpoints', { url: receiver.url });
    receiver.statuses = [410];
    await relay.accept('wk_acme', [track('m1')]);
    await waitFor(async () => (await acme('GET', `endpoints/${id}`)).state === 'disabled');
    expect(await acme('POST', `endpoints/${id}/pause`)).toMatchObject({ disabled: { reason: 'gone' } });
    expect(await acme('POST', `endpoints/${id}/resume`)).toMatchObject({ state: 'disabled', replayed: 0 });
  });
});

describe.each(onExpress)('A source of the name portal', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('has no route of its own, so it may have the name', async () => {
    const { relay, host, receiver, tokenOf, as } = await startPortal(afterwards, createAdapter());
    const { writeKey } = await relay.sources.create({ name: 'portal', metadata: { tenant: 'portal' } });
    const tenant = as(await tokenOf('portal'));
    await tenant('POST', 'endpoints', { url: receiver.url });
    const response = await fetch(`${host}/v1/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ writeKey, batch: [track('p1')] }),
    });
    expect(response.status).toBe(200);
    expect((await receiver.received(1))[0]!.body.event).toBe('Ordered');
    expect((await tenant('GET', 'endpoints')).endpoints).toHaveLength(1);
    expect((await fetch(`${host}/relay/portal/`)).status).toBe(200);
  });
});

describe.each(onExpress)('What a tenant gives', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const RULE = 'url must not be a private, local or otherwise refused address';

  it('names the field and the rule, and nothing of the operator', async () => {
    const { tokenOf, refused, as } = await startPortal(afterwards, createAdapter(), {
      destination: { urls: ['https://receiver.example/operator'] },
      options: { delivery: { deniedNetworks: ['93.184.216.0/24'], httpsOnly: true } },
    });
    const token = await tokenOf('acme');
    const { id } = await as(token)('POST', 'endpoints', { url: URL_OF_NOBODY });
    const url = URL_OF_NOBODY;
    const rows: [method: string, path: string, body: unknown, field: string, message: string][] = [
      ['POST', 'endpoints', {}, 'url', 'url must be an http or https URL of at most 2000 characters'],
      ['POST', 'endpoints', { url: 'ftp://receiver.example' }, 'url', 'url must be an http or https URL'],
      [
        'POST',
        'endpoints',
        { url: `https://a.example/${'x'.repeat(2_000)}` },
        'url',
        'url must be an http or https URL',
      ],
      ['POST', 'endpoints', { url: 'http://receiver.example' }, 'url', 'url must be an https URL'],
      ['POST', 'endpoints', { url: 'https://10.0.0.1/' }, 'url', RULE],
      ['POST', 'endpoints', { url: 'https://[::1]/' }, 'url', RULE],
      ['POST', 'endpoints', { url: 'https://localhost/' }, 'url', RULE],
      ['POST', 'endpoints', { url: 'https://93.184.216.34/' }, 'url', RULE],
      ['POST', 'endpoints', { url: 'https://a:%@receiver.example/' }, 'url', 'url must have user info that is'],
      ['POST', 'endpoints', { url, events: [] }, 'events', 'events must be an array of 1 to 100'],
      ['POST', 'endpoints', { url, events: 'Order' }, 'events', 'events must be an array'],
      [
        'POST',
        'endpoints',
        { url, description: 'x'.repeat(501) },
        'description',
        'description must be a string of at most 500',
      ],
      ['POST', 'endpoints', { url, signature: 'v2' }, 'signature', "signature must be 'v1' or 'v1a'"],
      ['POST', 'endpoints', { url, sources: ['shop'] }, 'sources', 'sources is not a field of this request'],
      ['POST', 'endpoints', { url, metadata: { tenant: 'globex' } }, 'metadata', 'metadata is not a field'],
      ['PATCH', `endpoints/${id}`, { url: 'https://192.168.0.1/' }, 'url', RULE],
      ['PATCH', `endpoints/${id}`, { events: [''] }, 'events', 'events must be an array'],
      ['PATCH', `endpoints/${id}`, { tenant: 'globex' }, 'tenant', 'tenant is not a field of this request'],
      ['POST', `endpoints/${id}/pause`, { now: true }, 'now', 'now is not a field of this request'],
      [
        'POST',
        `endpoints/${id}/rotate-secret`,
        { overlap: -1 },
        'overlap',
        'overlap must be a whole number of milliseconds',
      ],
      [
        'POST',
        `endpoints/${id}/rotate-secret`,
        { overlap: 31_536_000_001 },
        'overlap',
        'overlap must be a whole number of milliseconds from 0 to 31536000000 (365 days)',
      ],
      ['POST', `endpoints/${id}/rotate-secret`, { secret: 'x' }, 'secret', 'secret is not a field of this request'],
      ['POST', `endpoints/${id}/test`, {}, 'event', 'event must be the name of an event'],
      ['POST', `endpoints/${id}/replays`, {}, 'since', 'since must be milliseconds since the epoch'],
      ['POST', `endpoints/${id}/replays`, { since: '1' }, 'since', 'since must be milliseconds since the epoch'],
      ['GET', `endpoints/${id}/deliveries?state=queued`, undefined, 'state', 'state must be one of waiting, active'],
      ['GET', `endpoints/${id}/deliveries?limit=0`, undefined, 'limit', 'limit must be a whole number'],
      ['GET', `endpoints/${id}/deliveries?cursor=1`, undefined, 'cursor', 'cursor must be that of an earlier answer'],
      ['GET', `endpoints/${id}/deliveries?source=shop`, undefined, 'source', 'source is not a field of this query'],
      ['GET', 'endpoints?tenant=globex', undefined, 'tenant', 'tenant is not a field of this query'],
    ];
    for (const [method, path, body, field, message] of rows) {
      const answer = await refused(token)(method, path, body);
      expect([path, body, answer]).toMatchObject([path, body, { status: 400, field }]);
      expect(answer.message.slice(0, message.length)).toBe(message);
      expect(answer.message).not.toMatch(/delivery\.|Networks|portal-|Destination/);
    }
    expect((await as(token)('GET', 'endpoints')).endpoints).toHaveLength(1);
  });

  it('must be JSON, of routes that exist', async () => {
    const { tokenOf, json, ask } = await startPortal(afterwards, createAdapter());
    const token = await tokenOf('acme');
    const text = { token, body: 'url=x', headers: { 'Content-Type': 'text/plain' } };
    expect((await ask('POST', 'endpoints', text)).status).toBe(415);
    expect(await json('POST', 'endpoints', { token, body: '[]' })).toMatchObject({
      status: 400,
      answer: { field: 'body' },
    });
    expect(await json('GET', 'nothing', { token })).toMatchObject({ status: 404, answer: { code: 'route_unknown' } });
    expect(await json('DELETE', 'endpoints', { token })).toMatchObject({ status: 405 });
    expect((await ask('GET', 'nothing')).status).toBe(401);
    const { headers } = await ask('GET', 'session', { token });
    expect([headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual(['no-store', null]);
  });
});
