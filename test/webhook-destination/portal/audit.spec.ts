import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { followAudit } from '../admin/api/support.js';
import { startPortal, track } from './support.js';
import { waitFor } from '../../support/wait-for.js';

const ADMIN = 'admin-t0ken-of-the-tests-32-long';

describe.each(platforms)('The audit log of the portal on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('has each change and each secret that was shown, with tenant and person', async () => {
    const { relay, receiver, as } = await startPortal(afterwards, createAdapter());
    const audit = followAudit(relay);
    const { token } = await relay.portal.link('acme', { access: 'write', person: 'Ada' });
    const acme = as(token);
    const { id } = await acme('POST', 'endpoints', { url: `${receiver.url}?key=4711`, description: 'Private' });
    const path = `endpoints/${id}`;
    await acme('GET', path);
    await acme('GET', `${path}/secret`);
    await acme('PATCH', path, { events: ['Ordered'] });
    await acme('POST', `${path}/pause`);
    await acme('POST', `${path}/resume`);
    await acme('POST', `${path}/rotate-secret`, {});
    await acme('POST', `${path}/test`, { event: 'Ordered' });
    await relay.accept('wk_acme', [track('m1')]);
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 1);
    const { deliveries } = await acme('GET', `${path}/deliveries`);
    await acme('POST', `deliveries/${deliveries[0]!.id as string}/replay`);
    await acme('POST', `${path}/replays`, { since: 0 });
    await acme('DELETE', path);
    await relay.portal.revoke('acme');
    const { origin } = new URL(receiver.url);
    const { target } = audit[0]!;
    expect(target).toMatch(/^portal-/);
    const byAda = { by: 'portal', tenant: 'acme', user: 'Ada', address: '127.0.0.1', at: expect.any(Number) };
    expect(audit).toMatchObject([
      { action: 'endpoint.create', target, details: { origin, description: '***' }, ...byAda },
      { action: 'endpoint.secret', target, ...byAda },
      { action: 'endpoint.update', target, details: { events: ['Ordered'] }, ...byAda },
      { action: 'endpoint.pause', target, ...byAda },
      { action: 'endpoint.resume', target, ...byAda },
      { action: 'endpoint.rotate-secret', target, ...byAda },
      { action: 'endpoint.test', target, details: { event: 'Ordered' }, ...byAda },
      { action: 'delivery.replay', details: { destination: target, messageId: 'm1' }, ...byAda },
      { action: 'endpoint.replay', target, details: { since: 0, replayed: 0 }, ...byAda },
      { action: 'endpoint.remove', target, ...byAda },
      { action: 'portal.revoke', by: 'application', tenant: 'acme' },
    ]);
    expect(JSON.stringify(audit)).not.toMatch(/whsec|4711|Private/);
  });

  it('has what failed or was refused, and who tried', async () => {
    const { relay, tokenOf, ask } = await startPortal(afterwards, createAdapter());
    const audit = followAudit(relay);
    const read = await tokenOf('acme', 'read');
    await ask('POST', 'endpoints', { token: read, body: {} });
    await ask('GET', 'endpoints/ep_x/secret', { token: read });
    await ask('POST', 'endpoints', { token: await tokenOf('acme'), body: { url: 'x' } });
    await ask('GET', 'session', { token: `${read}x` });
    await ask('GET', 'session'); // is no attempt
    await ask('GET', 'endpoints/ep_x', { token: read });
    expect(audit).toMatchObject([
      {
        action: 'request.refused',
        by: 'portal',
        tenant: 'acme',
        details: { code: 'read_only', route: 'POST portal/endpoints' },
      },
      { action: 'request.refused', target: 'ep_x', details: { route: 'GET portal/endpoints/:id/secret' } },
      { action: 'change.failed', tenant: 'acme', details: { code: 'options_invalid', route: 'POST portal/endpoints' } },
      { action: 'sign-in.refused', details: { code: 'portal_token_wrong' } },
    ]);
  });

  it('is in the activity of the admin API, where an operator can see what a tenant sees', async () => {
    const { relay, host, as, refused, tokenOf } = await startPortal(afterwards, createAdapter(), {
      options: { admin: { tokens: [{ name: 'ops', token: ADMIN, access: 'read' }] } },
    });
    const audit = followAudit(relay);
    const { id } = await as(await tokenOf('acme'))('POST', 'endpoints', { url: 'https://receiver.example/' });
    const admin = (method: string, path: string, body?: object) =>
      fetch(`${host}/relay/api/${path}`, {
        method,
        headers: { Authorization: `Bearer ${ADMIN}`, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
      });
    const from = Date.now();
    const response = await admin('POST', 'portal/links', { tenant: 'acme' });
    const { url, expiresAt } = (await response.json()) as { url: string; expiresAt: number };
    expect(expiresAt - from).toBeGreaterThanOrEqual(600_000 - 1_000);
    const [path, token] = url.split('#');
    expect(path).toBe('/relay/portal/');
    expect(await as(token!)('GET', 'session')).toMatchObject({ tenant: 'acme', access: 'read', person: 'ops' });
    expect((await as(token!)('GET', 'endpoints')).endpoints).toMatchObject([{ id }]);
    expect(await refused(token!)('GET', `endpoints/${id}/secret`)).toMatchObject({ status: 403 });
    expect(audit.at(-2)).toMatchObject({ action: 'portal.link', by: 'token', user: 'ops', target: 'acme' });
    expect((await admin('POST', 'portal/links', { tenant: '' })).status).toBe(400);
    const activity = (await (await admin('GET', 'activity?who=acme&what=endpoint')).json()) as { entries: object[] };
    expect(activity.entries).toMatchObject([
      { action: 'endpoint.create', tenant: 'acme', by: 'portal', result: 'done' },
    ]);
  });
});
