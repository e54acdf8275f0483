import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { describeOnEach, postgresStore, redisStore } from '../../support/services.js';
import { sharedQueue } from '../../support/shared-queue.js';
import { waitFor } from '../../support/wait-for.js';
import { startPortal, track } from './support.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`Two applications with a portal on one ${store.name}`, () => {
    const afterwards = useCleanUps();

    const create = () => {
      const { options, remove } = store.create();
      afterwards(remove);
      return () => startPortal(afterwards, new ExpressAdapter(), { options: { queue: sharedQueue(options) } });
    };

    it('know the links of each other, and their ends, also after a restart', async () => {
      const start = create();
      const [one, other] = [await start(), await start()];
      const token = await one.tokenOf('acme');
      await other.as(token)('GET', 'session');
      await one.relay.portal.revoke('acme');
      expect((await one.json('GET', 'session', { token })).status).toBe(401);
      await waitFor(async () => (await other.json('GET', 'session', { token })).status === 401);
      const later = await other.tokenOf('acme'); // knows the revocation of the other process
      await one.as(later)('GET', 'session');
      const third = await start();
      expect((await third.json('GET', 'session', { token })).status).toBe(401);
      await third.as(later)('GET', 'session');
      await Promise.all([one.relay.portal.revoke('acme'), other.relay.portal.revoke('acme')]);
      for (const { json } of [one, other])
        await waitFor(async () => (await json('GET', 'session', { token: later })).status === 401);
    });

    it('keep to the limit of endpoints together, and send to the endpoints of each other', async () => {
      const start = create();
      const [one, other] = [await start(), await start()];
      const token = await one.tokenOf('acme');
      const body = { url: one.receiver.url };
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, i) => (i % 2 ? one : other).json('POST', 'endpoints', { token, body })),
      );
      const created = answers.filter(({ status }) => status === 200).length;
      expect(created).toBeGreaterThan(5); // near the limit, both may be refused
      expect(created).toBeLessThanOrEqual(10);
      const { endpoints } = await one.as(token)('GET', 'endpoints');
      expect(endpoints).toHaveLength(created);
      for (const { id } of endpoints.slice(1)) await other.as(token)('DELETE', `endpoints/${id as string}`);
      await waitFor(async () => (await one.as(token)('GET', 'endpoints')).endpoints.length === 1);
      await other.relay.accept('wk_acme', [track('m1', { event: 'Only' })]);
      expect((await one.receiver.received(1))[0]!.body.event).toBe('Only');
    });
  });
});
