import type { WebhookDestinationService } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { waitFor } from '../../support/wait-for.js';
import { type PortalAnswer, startPortal, track } from './support.js';

/** Deliveries to an endpoint that its tenant has paused do not wait. */
async function pauseByApplication(relay: WebhookDestinationService): Promise<void> {
  const [entry] = await relay.destinations.list({ metadata: { tenant: 'acme' }, after: 'operator' });
  await relay.destinations.pause(entry!.name);
}

describe.each(platforms)('Deliveries in the portal on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  const start = async (options: Parameters<typeof startPortal>[2] = {}) => {
    const started = await startPortal(afterwards, createAdapter(), options);
    const acme = started.as(await started.tokenOf('acme'));
    const { id } = await acme('POST', 'endpoints', { url: started.receiver.url });
    /** All portions: on a busy machine, one may have few deliveries. */
    const list = async (query = '') => {
      const all: PortalAnswer['deliveries'] = [];
      let portion = await acme('GET', `endpoints/${id}/deliveries?${query}`);
      for (;;) {
        all.push(...portion.deliveries);
        if (portion.cursor === undefined) return all;
        portion = await acme('GET', `endpoints/${id}/deliveries?${query}&cursor=${portion.cursor}`);
      }
    };
    return { ...started, acme, id, list };
  };

  it('show what was sent, what the receiver answered, and why it ended', async () => {
    const { relay, receiver, acme, id, list } = await start();
    receiver.statuses = [404, 200];
    await relay.accept('wk_acme', [track('m1', { properties: { total: 3 } })]);
    await waitFor(async () => (await list('state=dead')).length === 1);
    await relay.accept('wk_acme', [track('m2', { event: 'Order Refunded' })]);
    await waitFor(async () => (await list('state=delivered')).length === 1);
    const lastAttempt = { at: expect.any(Number), outcome: 'permanent', status: 404, duration: expect.any(Number) };
    const [second, first] = await list();
    expect(second).toMatchObject({ event: 'Order Refunded', state: 'delivered', attempts: 1 });
    expect(first).toEqual({
      id: expect.stringMatching(/^dl_[\w-]+$/),
      endpoint: id,
      messageId: 'm1',
      type: 'track',
      event: 'Ordered',
      state: 'dead',
      acceptedAt: expect.any(Number),
      attempts: 1,
      lastAttempt,
      reason: 'all_failed',
    });
    const whole = await acme('GET', `deliveries/${first!.id as string}`);
    const head = { ...first };
    delete head.lastAttempt;
    expect(whole).toMatchObject({ ...head, attempts: [lastAttempt] });
    expect(whole.body).toBe(receiver.webhooks[0]!.raw.toString());
    expect(await acme('GET', `endpoints/${id}`)).toMatchObject({ counts: { waiting: 0, delivered: 1, dead: 1 } });
    expect(await list('event=Order%20Refunded')).toEqual([second]);
    expect(await list(`since=${(second!.acceptedAt as number) + 1}`)).toEqual([]);
    // The same delivery always has the same id, and reveals nothing of the queue's.
    const [record] = await relay.deliveries({ messageId: 'm1' });
    expect(first!.id).not.toContain(record!.id);
    expect((await list()).map((one) => one.id)).toEqual([second!.id, first!.id]);
  });

  it('are sent again: one, and all dead ones since a time', async () => {
    const { relay, receiver, acme, id, list, refused, tokenOf } = await start();
    receiver.statuses = [400];
    for (const name of ['m1', 'm2', 'm3']) await relay.accept('wk_acme', [track(name)]);
    await waitFor(async () => (await list('state=dead')).length === 3);
    receiver.statuses = [200];
    const [third, second] = await list();
    expect(await acme('POST', `deliveries/${second!.id as string}/replay`, {})).toEqual({ replayed: 1 });
    await waitFor(async () => (await list('state=delivered')).length === 1);
    expect(await acme('POST', `endpoints/${id}/replays`, { since: third!.acceptedAt })).toEqual({ replayed: 1 });
    expect(await acme('POST', `endpoints/${id}/replays`, { since: 0 })).toEqual({ replayed: 1 });
    await waitFor(async () => (await list('state=delivered')).length === 3);
    expect(await acme('POST', `endpoints/${id}/replays`, { since: 0 })).toEqual({ replayed: 0 });
    // A delivered one, too; one that is due is not.
    await acme('POST', `deliveries/${third!.id as string}/replay`);
    await waitFor(() => receiver.webhooks.length === 7);
    await pauseByApplication(relay);
    await relay.accept('wk_acme', [track('m4')]);
    const [queued] = await list('state=waiting');
    expect(queued).toMatchObject({ messageId: 'm4', state: 'waiting', attempts: 0 });
    expect(await refused(await tokenOf('acme'))('POST', `deliveries/${queued!.id as string}/replay`)).toMatchObject({
      status: 409,
      code: 'delivery_not_replayed',
    });
  });

  it('are read in portions, those that wait with and without attempts alike', async () => {
    const { relay, receiver, acme, id, list } = await start();
    receiver.statuses = [503];
    for (let i = 0; i < 3; i++) await relay.accept('wk_acme', [track(`tried-${i}`)]);
    await waitFor(async () => (await list()).every((one) => one.attempts === 1));
    await pauseByApplication(relay);
    for (let i = 0; i < 4; i++) await relay.accept('wk_acme', [track(`new-${i}`)]);
    const found: unknown[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const query = `state=waiting&limit=2${cursor && `&cursor=${cursor}`}`;
      const portion = await acme('GET', `endpoints/${id}/deliveries?${query}`);
      expect(portion.deliveries.length).toBeLessThanOrEqual(2);
      found.push(...portion.deliveries.map(({ messageId }) => messageId));
      ({ cursor } = portion);
    }
    expect(found).toEqual(['new-3', 'new-2', 'new-1', 'new-0', 'tried-2', 'tried-1', 'tried-0']);
    expect(await list('state=waiting')).toHaveLength(7);
    const [last] = (await list('state=waiting')).slice(-1);
    const whole = await acme('GET', `deliveries/${last!.id as string}`);
    expect(whole.givesUpAt).toBeGreaterThan(Date.now());
    expect(whole.nextAttemptAt).toBeGreaterThan(Date.now() - 60_000);
  });

  it('have cursors for their own search alone', async () => {
    const { relay, receiver, acme, id, refused, tokenOf } = await start();
    receiver.statuses = [400];
    for (const name of ['m1', 'm2', 'm3']) await relay.accept('wk_acme', [track(name)]);
    const { id: other } = await acme('POST', 'endpoints', { url: receiver.url });
    await waitFor(async () => (await acme('GET', `endpoints/${id}/deliveries?state=dead`)).deliveries.length === 3);
    const query = 'state=dead&event=Ordered&since=1';
    const { cursor } = await acme('GET', `endpoints/${id}/deliveries?${query}&limit=1`);
    const page = await acme('GET', `endpoints/${id}/deliveries?${query}&limit=2&cursor=${cursor!}`);
    expect(page.deliveries.map(({ messageId }) => messageId)).toEqual(['m2', 'm1']);
    const token = await tokenOf('acme');
    for (const path of [
      `endpoints/${id}/deliveries?cursor=${cursor!}`,
      `endpoints/${id}/deliveries?state=delivered&event=Ordered&since=1&cursor=${cursor!}`,
      `endpoints/${id}/deliveries?state=dead&event=Order&since=1&cursor=${cursor!}`,
      `endpoints/${id}/deliveries?state=dead&event=Ordered&since=2&cursor=${cursor!}`,
      `endpoints/${other}/deliveries?${query}&cursor=${cursor!}`,
    ]) {
      expect([path, await refused(token)('GET', path)]).toMatchObject([
        path,
        {
          status: 400,
          field: 'cursor',
          message: 'cursor must be that of an earlier answer to the same search',
        },
      ]);
    }
  });

  it('are deletion notices as well, which are those of the tenant', async () => {
    const { relay, list } = await start();
    await relay.requestDeletion({ userId: 'u1', sources: ['acme'] });
    await relay.requestDeletion({ userId: 'u2', sources: ['globex'] });
    await waitFor(async () => (await list('state=delivered')).length === 1);
    expect(await list()).toMatchObject([{ type: 'delete', state: 'delivered' }]);

    // Without sources, the user may be of any tenant.
    await relay.requestDeletion({ userId: 'u3' });
    await waitFor(async () => (await relay.deliveries({ userId: 'u3', state: 'delivered' })).length === 1);
    expect(await relay.deliveries({ userId: 'u3' })).toMatchObject([{ destination: 'operator' }]);
  });
});
