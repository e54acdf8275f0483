import { type ExecutionContext, Logger } from '@nestjs/common';
import { memoryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { followAudit, READ_TOKEN, signIn, startApi, TOKEN, track } from './support.js';

const headersOf = (context: ExecutionContext) =>
  context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>().headers;

describe.each(platforms)('The audit log on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  it('has sign-ins, and what was refused for lack of rights', async () => {
    const api = await startApi(cleanUp, createAdapter());
    const audit = followAudit(api.relay);
    await signIn(api);
    await api.ask('POST', 'destinations/Webhooks/pause', { token: READ_TOKEN, body: {} });
    await api.ask('GET', 'deliveries', { headers: { 'Sec-Fetch-Site': 'cross-site' } });
    await api.ask('GET', 'deliveries', { token: null }); // nobody yet
    const address = '127.0.0.1';
    expect(audit).toMatchObject([
      { action: 'sign-in', by: 'token', address, details: { access: 'write' } },
      {
        action: 'request.refused',
        by: 'token',
        address,
        target: 'Webhooks',
        details: { code: 'read_only', route: 'POST destinations/:name/pause' },
      },
      { action: 'request.refused', address, details: { code: 'cross_site', route: 'GET deliveries' } },
    ]);
  });

  it('has changes that failed, without what their bodies said', async () => {
    const { ask, relay } = await startApi(cleanUp, createAdapter(), { options: { registry: 'store' } });
    const audit = followAudit(relay);
    const body = { name: 'crm', urls: ['ftp://s3cret'], s3cret: 's3cret', sharedSecret: 's3cret' };
    expect((await ask('POST', 'destinations', { body })).status).toBe(400);
    expect((await ask('PATCH', 'destinations/Webhooks', { body: { enabled: false } })).status).toBe(409);
    expect((await ask('POST', 'destinations/none/test', { body: { traits: { email: 's3cret' } } })).status).toBe(404);
    expect((await ask('DELETE', 'users/u1', { body: { s3cret: 1 } })).status).toBe(400);
    expect((await ask('POST', 'explain', { body: { message: 1 } })).status).toBeLessThan(500); // changes nothing
    const failed = { action: 'change.failed', by: 'token', address: '127.0.0.1' };
    const route = 'PATCH destinations/:name';
    expect(audit).toMatchObject([
      { ...failed, target: undefined, details: { code: 'options_invalid', route: 'POST destinations' } },
      { ...failed, target: 'Webhooks', details: { code: 'registry_read_only', route } },
      { ...failed, target: 'none', details: { code: 'destination_unknown' } },
      { ...failed, target: undefined, userIds: ['u1'], details: { code: 'field_unknown' } },
    ]);
    expect(JSON.stringify(audit)).not.toContain('s3cret');
  });

  it('shows of a change only values that are neither secrets nor data', async () => {
    const { ask, relay, receiver } = await startApi(cleanUp, createAdapter(), { options: { registry: 'store' } });
    const audit = followAudit(relay);
    const secrets = { urls: [`${receiver.url}/s3cret`], headers: { 'X-A': 's3cret' }, metadata: { owner: 's3cret' } };
    expect((await ask('POST', 'destinations', { body: { name: 'crm', types: ['track'], ...secrets } })).status).toBe(
      200,
    );
    const details = {
      name: 'crm',
      types: ['track'],
      urls: [new URL(receiver.url).origin],
      headers: '***',
      metadata: '***',
    };
    expect(audit).toMatchObject([{ action: 'destination.create', target: 'crm', details }]);
  });

  it('shows the whole origin of a URL, and no value of a search', async () => {
    const { ask, json, relay } = await startApi(cleanUp, createAdapter(), { options: { registry: 'store' } });
    const audit = followAudit(relay);
    const log = vi.spyOn(Logger.prototype, 'log');
    const host = `hooks.example.${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.other.example`;
    expect((await ask('POST', 'destinations', { body: { name: 'crm', urls: [`https://${host}/`] } })).status).toBe(200);
    expect(log.mock.calls.map(([line]) => String(line)).join()).toContain(`"https://${host}"`);
    vi.restoreAllMocks();
    const query = { userId: 's3cret', messageId: 's3cret', event: 's3cret', destination: 'crm' };
    expect((await json('POST', 'replays', { body: { query, expected: 0 } })).status).toBe(200);
    await json('POST', 'destinations/Webhooks/test', { body: track('s3cret') });
    expect(audit).toMatchObject([
      {},
      { action: 'deliveries.replay', details: { query: { userId: '***', destination: 'crm' }, expected: 0 } },
      { action: 'destination.test', details: { type: 'track' } },
    ]);
    expect(JSON.stringify(audit)).not.toContain('s3cret');
  });

  it.each(['guard', 'access'])('has what admin.%s refused by any error', async (name) => {
    const fail = () => {
      throw new TypeError('no token');
    };
    const isKnown = { canActivate: (context: ExecutionContext) => headersOf(context)['x-user'] !== undefined };
    const admin = name === 'guard' ? { guard: { canActivate: fail } } : { guard: isKnown, access: fail };
    const { json, relay } = await startApi(cleanUp, createAdapter(), { options: { admin } });
    const audit = followAudit(relay);
    const { status, answer } = await json('GET', 'deliveries', { token: null, headers: { 'X-User': 'u' } });
    expect([status, answer.code]).toEqual([500, 'admin_only']);
    expect(JSON.stringify(answer)).not.toContain('no token');
    expect(audit).toMatchObject([
      { action: 'request.refused', details: { code: 'admin_only', route: 'GET deliveries' } },
    ]);
  });

  it('has lines of a bounded length, and whole entries', async () => {
    const { host, relay } = await startApi(cleanUp, createAdapter());
    const audit = followAudit(relay);
    const log = vi.spyOn(Logger.prototype, 'log');
    const userIds = Array.from({ length: 10 }, (_, index) => `${index}-`.padEnd(330, 'u'));
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` };
    const body = JSON.stringify({ userIds });
    expect((await fetch(`${host}/v1/delete`, { method: 'POST', headers, body })).status).toBe(200);
    expect(JSON.stringify(audit)).toContain(userIds[9]);
    const line = log.mock.calls.map(([text]) => String(text)).find((text) => text.includes('user.delete'))!;
    expect(line).toContain(`"${userIds[9]!.slice(0, 300)}…"`);
    expect(line).not.toContain(userIds[9]);
    vi.restoreAllMocks();
  });

  it('has a deletion that fails half-way, however it was asked for', async () => {
    const queue = memoryQueue()();
    const { ask, host, relay } = await startApi(cleanUp, createAdapter(), { options: { queue: () => queue } });
    const audit = followAudit(relay);
    await relay.accept('wk_shop', [track('m1')]);
    vi.spyOn(queue, 'add').mockRejectedValue(new Error('disk full: s3cret'));
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` };
    const body = '{"userId":"u1","sources":["shop"]}';
    expect((await fetch(`${host}/v1/delete`, { method: 'POST', headers, body })).status).toBe(503);
    expect((await ask('DELETE', 'users/u2', { body: {} })).status).toBeGreaterThanOrEqual(500);
    expect((await ask('POST', 'deletions', { body: { userId: 'u3' } })).status).toBeGreaterThanOrEqual(500);
    expect(await relay.deliveries({ userId: 'u1' })).toEqual([]); // removed, and no destination was notified
    const failed = { action: 'user.delete', by: 'token' };
    expect(audit).toMatchObject([
      {
        ...failed,
        userIds: ['u1'],
        details: { users: 1, sources: ['shop'], failed: expect.any(String) },
        deletion: { sources: ['shop'], purged: { shop: 1 } },
      },
      { ...failed, userIds: ['u2'], details: { failed: expect.any(String) }, deletion: { purged: {} } },
      { ...failed, userIds: ['u3'], details: { failed: expect.any(String) }, deletion: { purged: {} } },
    ]);
    expect(JSON.stringify(audit)).not.toContain('s3cret');
    vi.restoreAllMocks();
  });
});
