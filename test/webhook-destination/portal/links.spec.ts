import { memoryQueue, type PortalLinkOptions } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { onExpress, platforms } from '../../support/platforms.js';
import { startRelayApp } from '../../support/relay.app.js';
import { startPortal } from './support.js';

describe.each(platforms)('Links to the portal on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('are the path of the pages with the token in the fragment, also below a global prefix', async () => {
    const { relay } = await startPortal(afterwards, createAdapter());
    const from = Date.now();
    const { url, token, expiresAt } = await relay.portal.link('acme', { access: 'read' });
    expect(url).toBe(`/relay/portal/#${token}`);
    expect(expiresAt.getTime()).toBeGreaterThanOrEqual(from + 3_600_000);
    expect(token).toMatch(/^[\w-]+\.[\w-]{43}$/);
    expect(token.length).toBeLessThan(120);

    const prefixed = await startPortal(afterwards, createAdapter(), {
      prefix: '/my/api',
      prepare: (nest) => nest.setGlobalPrefix('my/api'),
    });
    const link = await prefixed.relay.portal.link('acme', { access: 'read' });
    expect(link.url).toBe(`/my/api/relay/portal/#${link.token}`);
    expect((await fetch(prefixed.host + link.url)).status).toBe(200);
    expect(await prefixed.as(link.token)('GET', 'session')).toMatchObject({ tenant: 'acme', access: 'read' });
  });

  it('say who holds them, and where to return to', async () => {
    const { relay, as } = await startPortal(afterwards, createAdapter(), {
      portal: { brand: { name: 'Shop', accent: '#112233' }, limits: { endpoints: 3 } },
    });
    const options = {
      access: 'write',
      person: 'Ada',
      returnUrl: 'https://app.example/settings',
      expiresIn: 5_000,
    } as const;
    const { token, expiresAt } = await relay.portal.link('acme ✓', options);
    expect(await as(token)('GET', 'session')).toEqual({
      tenant: 'acme ✓',
      access: 'write',
      person: 'Ada',
      returnUrl: 'https://app.example/settings',
      expiresAt: expiresAt.getTime(),
      brand: { name: 'Shop', accent: '#112233' },
      limits: { endpoints: 3 },
    });
  });

  it('expire, and end by a revocation, which later links survive', async () => {
    const { relay, json, as, tokenOf } = await startPortal(afterwards, createAdapter());
    const first = await tokenOf('acme');
    const { token } = await relay.portal.link('acme', { access: 'read', expiresIn: 1 });
    await vi.waitFor(async () =>
      expect(await json('GET', 'session', { token })).toMatchObject({
        status: 401,
        answer: { code: 'portal_token_expired' },
      }),
    );
    await relay.portal.revoke('acme');
    expect(await json('GET', 'session', { token: first })).toMatchObject({
      status: 401,
      answer: { code: 'portal_token_revoked', field: 'Authorization' },
    });
    const second = await tokenOf('acme');
    const other = await tokenOf('globex');
    await as(second)('GET', 'session');
    await relay.portal.revoke('acme');
    await relay.portal.revoke('acme');
    expect((await json('GET', 'session', { token: second })).status).toBe(401);
    await as(other)('GET', 'session');
    await as(await tokenOf('acme'))('GET', 'session');
  });
});

describe.each(onExpress)('A link to the portal', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it.each([
    ['', { access: 'read' }, 'tenant must be a non-empty string of at most 500 characters'],
    ['x'.repeat(501), { access: 'read' }, 'tenant must be'],
    [7, { access: 'read' }, 'tenant must be'],
    ['acme', undefined, "the options of a link must be an object with access: 'read' or 'write'"],
    ['acme', {}, "access must be 'read' or 'write'"],
    ['acme', { access: 'admin' }, "access must be 'read' or 'write'"],
    ['acme', { access: 'read', expiresIn: 0 }, 'expiresIn must be a number of milliseconds above 0, at most 604800000'],
    ['acme', { access: 'read', expiresIn: 604_800_001 }, 'expiresIn must be'],
    ['acme', { access: 'read', expiresIn: '1h' }, 'expiresIn must be'],
    ['acme', { access: 'read', returnUrl: 'javascript:alert(1)' }, 'returnUrl must be an http or https URL'],
    ['acme', { access: 'read', returnUrl: '/settings' }, 'returnUrl must be an http or https URL'],
    ['acme', { access: 'read', person: '' }, 'person must be a non-empty string of at most 200 characters'],
    ['acme', { access: 'read', role: 'x' }, 'role is not an option of a link'],
  ])('of %j with %j is refused with the rule', async (tenant, options, rule) => {
    const { relay } = await startPortal(afterwards, createAdapter(), { options: { queue: memoryQueue() } });
    await expect(relay.portal.link(tenant as string, options as PortalLinkOptions)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(rule),
    });
  });

  it('needs the option portal', async () => {
    const { relay } = await startRelayApp(afterwards, createAdapter());
    expect(() => relay.portal).toThrow('portal must be set for service.portal');
  });

  it('is that of one secret: another one ends it', async () => {
    const one = await startPortal(afterwards, createAdapter());
    const other = await startPortal(afterwards, createAdapter(), {
      portal: { secret: 'another-portal-secret-of-32-bytes-or-more' },
    });
    expect(await other.json('GET', 'session', { token: await one.tokenOf('acme') })).toMatchObject({
      status: 401,
      answer: { code: 'portal_token_wrong' },
    });
  });

  it('that is wrong is answered late, and only some for an address; the right one is never refused for that', async () => {
    const { json, tokenOf, as } = await startPortal(afterwards, createAdapter());
    const token = await tokenOf('acme');
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, i) => json('GET', 'session', { token: `${token.slice(0, -4)}x${i}` })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    expect(answers.find(({ status }) => status === 429)!.response.headers.get('retry-after')).toMatch(/^\d+$/);
    await as(token)('GET', 'session');
  });

  it.each(['', '.', 'a.b', 'a.b.c', '..', 'x'.repeat(20_000)])('cannot be %j', async (token) => {
    const { ask } = await startPortal(afterwards, createAdapter(), { options: { queue: memoryQueue() } });
    expect([400, 401, 431]).toContain((await ask('GET', 'session', { token })).status);
  });
});
