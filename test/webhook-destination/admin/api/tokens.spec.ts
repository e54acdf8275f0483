import { memoryQueue, type WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { Relay } from '../../../support/relay.js';
import { followAudit, READ_TOKEN, signIn, startApi, TOKEN } from './support.js';

describe.each(platforms)('Admin tokens on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  it('are refused late if they are wrong, and at once after ten of an address; the right one is always admitted', async () => {
    const { ask, json, relay } = await startApi(cleanUp, createAdapter());
    const audit = followAudit(relay);
    const start = performance.now();
    const first = await json('GET', 'overview', { token: 'a-guess' });
    expect(performance.now() - start).toBeGreaterThan(200);
    expect(first).toMatchObject({ status: 401, answer: { code: 'admin_token_wrong', field: 'Authorization' } });
    const statuses = await Promise.all(
      Array.from({ length: 12 }, () => ask('GET', 'overview', { token: 'a-guess' }).then(({ status }) => status)),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(9);
    const late = await json('POST', 'session', { token: null, body: { token: 'a-guess' } });
    expect([late.status, late.answer.code]).toEqual([429, 'rate_limited']);
    expect(Number(late.response.headers.get('retry-after'))).toBeGreaterThan(0);
    // From the same address, neither of them sent before.
    expect((await ask('GET', 'overview', { token: READ_TOKEN })).status).toBe(200);
    expect((await json('POST', 'session', { token: null, body: { token: TOKEN } })).status).toBe(200);
    const refused = audit.filter(({ action }) => action === 'sign-in.refused');
    expect(refused).toHaveLength(14);
    expect(refused[0]).toMatchObject({ address: '127.0.0.1', details: { code: 'admin_token_wrong' } });
    expect(JSON.stringify(audit)).not.toContain('guess');
  });

  it('that are wrong are limited over all addresses, without locking out the right one', async () => {
    const { ask } = await startApi(cleanUp, createAdapter(), {
      options: { ingest: { clientAddress: ({ headers }) => headers['x-client'] as string } },
    });
    const statusFrom = async (count: number, token: string) =>
      (await ask('GET', 'overview', { token, headers: { 'X-Client': `198.51.100.${count}` } })).status;
    const statuses = await Promise.all(Array.from({ length: 110 }, (_, count) => statusFrom(count, 'a-guess')));
    expect(statuses.filter((status) => status === 401)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect(await statusFrom(200, TOKEN)).toBe(200);
  });

  it('with names say in the audit log who signed in, changed something or was refused', async () => {
    const tokens = [
      { name: 'ann', token: TOKEN, access: 'write' as const },
      { name: 'dashboards', token: READ_TOKEN, access: 'read' as const },
    ];
    const api = await startApi(cleanUp, createAdapter(), { admin: { tokens } });
    const audit = followAudit(api.relay);
    const { asked } = await signIn(api);
    expect(await api.get('session', asked())).toMatchObject({ access: 'write', by: 'session', user: 'ann' });
    await api.ask('DELETE', 'users/u1', { ...asked(), body: {} });
    await api.ask('DELETE', 'users/u1', { token: READ_TOKEN, body: {} });
    expect(audit).toMatchObject([
      { action: 'sign-in', by: 'token', user: 'ann', address: '127.0.0.1', details: { access: 'write' } },
      { action: 'user.delete', by: 'session', user: 'ann' },
      { action: 'request.refused', by: 'token', user: 'dashboards', details: { code: 'read_only' } },
    ]);
    expect(JSON.stringify(audit)).not.toMatch(new RegExp(`${TOKEN}|${READ_TOKEN}`));
  });
});

describe('Admin tokens', () => {
  const cleanUp = useCleanUps();
  afterEach(() => void vi.unstubAllEnvs());

  const start = async (options: Partial<WebhookDestinationModuleOptions>) => {
    const relay = await Relay.start(options);
    cleanUp(() => relay.stop());
    return relay;
  };

  it('of fewer than 24 characters are a warning at each start, and an error in production', async () => {
    const admin = { token: 'a-short-token', readToken: READ_TOKEN };
    const { log } = await start({ admin });
    expect(log.matching(/^warn admin\.token has fewer than 24 characters/)).toHaveLength(1);
    expect(log.matching(/readToken|a-short-token/)).toEqual([]);
    vi.stubEnv('NODE_ENV', 'production');
    await expect(start({ admin })).rejects.toThrow('admin.token must have 24 characters or more');
    const tokens = [{ name: 'ann', token: 'a-short-token', access: 'read' as const }];
    await expect(start({ admin: { tokens } })).rejects.toThrow('admin.tokens[0].token must have 24 characters or more');
    expect((await start({ admin: { token: TOKEN } })).log.matching(/characters/)).toEqual([]);
  });

  it('are the write key of no source: of the options, of the stored registry, or of the application', async () => {
    const admin = { token: TOKEN };
    const source = { name: 'app', writeKey: TOKEN };
    const rule = 'writeKey must differ from the admin tokens';
    await expect(start({ admin, sources: [source] })).rejects.toThrow(`sources[0].${rule}`);
    const { service } = await start({ admin, registry: 'store' });
    await expect(service.sources.create(source)).rejects.toThrow(rule);
    await service.sources.create({ name: 'app' });
    await expect(service.sources.rotateKey('app', { key: TOKEN })).rejects.toThrow(rule);
    const useValue = { load: () => Promise.resolve({ sources: [source], destinations: [] }) };
    const { log } = await start({ admin, registry: { useValue } });
    expect(log.matching(new RegExp(`is ignored: ${rule}`))).toHaveLength(1);
  });

  it('that a stored source had before as its write key make the source invalid', async () => {
    const queue = memoryQueue()();
    const source = { options: { name: 'app', writeKey: TOKEN }, createdAt: 1, updatedAt: 1 };
    await queue.registry.write({ kind: 'source', name: 'app', document: JSON.stringify(source) }, 0);
    const { log, service } = await start({ admin: { token: TOKEN }, registry: 'store', queue: () => queue });
    expect(log.matching(/app.*is invalid and not used: writeKey must differ from the admin tokens/)).toHaveLength(1);
    await expect(service.accept(TOKEN, [])).rejects.toMatchObject({ code: 'write_key_unknown' });
  });
});
