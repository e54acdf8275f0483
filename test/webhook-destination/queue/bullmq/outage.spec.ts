import { inspect } from 'node:util';

import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { Forwarder } from '../../../support/forwarder.js';
import { type OwnService, ownPostgres, ownRedis } from '../../../support/own-services.js';
import { post } from '../../../support/post.js';
import { readMetrics, sumOf } from '../../../support/prometheus.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const logged: string[] = [];
for (const level of ['log', 'warn', 'error'] as const) {
  vi.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => void logged.push(`${level} ${String(line)}`));
}

await describeOnEach([redisStore, postgresStore], (store) => {
  const { name } = store;

  describe(`a relay whose ${name} goes away`, () => {
    const afterwards = useCleanUps();
    const startService = async (): Promise<OwnService> => {
      const service = await (name === 'Redis' ? ownRedis() : ownPostgres());
      afterwards(() => service.remove());
      await service.start();
      return service;
    };
    afterEach(() => void logged.splice(0));

    it('refuses messages with 503 meanwhile, loses none that it accepted, and goes on by itself', async () => {
      const service = await startService();
      const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: { queue: sharedQueue(service.options) },
      });
      const track = async (...ids: string[]) => {
        const batch = ids.map((messageId) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId }));
        return (await post(`${host}/v1/batch`, { batch }, 'wk_shop')).status;
      };
      expect(await track('before-1', 'before-2')).toBe(200);
      await receiver.taken(2);
      await service.kill();
      const start = Date.now();
      expect(await track('refused')).toBe(503);
      expect(await track('refused')).toBe(503);
      expect(Date.now() - start).toBeLessThan(12_000);
      await service.start();
      await waitFor(async () => (await track('after')) === 200);
      expect(new Set(await receiver.taken(3))).toEqual(new Set(['before-1', 'before-2', 'after']));
      await waitFor(() => logged.some((line) => /is available again/.test(line)));
      expect(logged.filter((line) => /is unavailable/.test(line)).length).toBeGreaterThan(0);
    });

    it('rejects with queue_unavailable meanwhile, answers 503, and shows nothing of the commands it sent', async () => {
      const service = await startService();
      const { host, relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: { queue: sharedQueue(service.options), registry: 'store', admin: { token: 'secret' } },
      });
      const headers = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' };
      const secret = 'S3cret-of-a-new-destination';
      const destination = JSON.stringify({ name: 'New', urls: ['https://example.com/'], sharedSecret: secret });
      await service.kill();
      const unavailable = { name: 'QueueUnavailableError', code: 'queue_unavailable' };
      const message = { type: 'track', userId: 'u1', event: 'Ordered', properties: { card: 'S3cret-of-a-message' } };
      const errors = await Promise.all(
        [relay.accept('wk_shop', [message]), relay.stats(), relay.deliveries()].map((call) =>
          call.then(() => undefined).catch((error: unknown) => error),
        ),
      );
      for (const error of errors) expect(error).toMatchObject(unavailable);
      for (const [path, init] of [
        ['overview', {}],
        ['timeseries', {}],
        ['deliveries', {}],
        ['replays/of-another-process', {}],
        ['destinations', { method: 'POST', body: destination }],
      ] as const) {
        const answer = await fetch(`${host}/relay/api/${path}`, { ...init, headers });
        expect(answer.headers.get('retry-after')).toBe('5');
        expect([path, answer.status, await answer.json()]).toMatchObject([
          path,
          503,
          { code: 'queue_unavailable', message: expect.stringMatching(/^(Redis cannot be reached$|PostgreSQL: )/) },
        ]);
      }
      expect(inspect([errors, logged], { depth: 10 })).not.toContain('S3cret');
    });

    it('keeps its other metrics meanwhile', async () => {
      const service = await startService();
      const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: { queue: sharedQueue(service.options), admin: { token: 'secret' } },
      });
      await post(`${host}/v1/track`, { userId: 'u1', event: 'Ordered' });
      await receiver.taken(1);
      const has = async (name: string) => sumOf(await readMetrics(host, 'secret'), name) > 0;
      await waitFor(() => has('analytics_relay_delivery_attempts_total'));
      expect(await has('analytics_relay_delivery_count')).toBe(true);
      await service.kill();
      await waitFor(async () => !(await has('analytics_relay_delivery_count')));
      expect(await has('analytics_relay_delivery_attempts_total')).toBe(true);
    });

    it('takes up a delivery whose outcome it could not record', async () => {
      const service = await startService();
      const queue = await openQueue(afterwards, sharedQueue(service.options));
      const [source, userId, body, acceptedAt] = ['shop', 'u1', Buffer.from('{}'), Date.now()];
      await queue.add([{ destination: 'Webhooks', source, messageId: 'm1', userId, body, acceptedAt }]);
      let settled: boolean | undefined;
      const subscription = queue.consume('Webhooks', 4).subscribe((lease) => {
        void (async () => {
          await service.kill();
          const attempt = { startedAt: Date.now(), results: [] };
          const recorded = lease.settle({ state: 'delivered', attempt });
          await service.start();
          settled = await recorded;
        })();
      });
      await waitFor(() => settled !== undefined);
      subscription.unsubscribe();
      expect(settled).toBe(true);
      expect(await queue.list({})).toMatchObject([{ messageId: 'm1', state: 'delivered' }]);
    });

    it('is found again when its connections fall silent without an end', async () => {
      const place = store.create();
      afterwards(place.remove);
      const forwarder = await Forwarder.start(afterwards, store.url);
      const queue = await openQueue(afterwards, sharedQueue({ ...place.options, connection: forwarder.url }));
      const taken: string[] = [];
      queue.consume('Webhooks', 4).subscribe((lease) => {
        taken.push(lease.delivery.messageId);
        void lease.settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      });
      const add = (messageId: string) => {
        const [source, userId, body, acceptedAt] = ['shop', 'u1', Buffer.from('{}'), Date.now()];
        return queue.add([{ destination: 'Webhooks', source, messageId, userId, body, acceptedAt }]);
      };
      await add('before');
      await waitFor(() => taken.length === 1);
      forwarder.mute();
      await waitFor(() =>
        add('after').then(
          () => true,
          () => false,
        ),
      );
      await waitFor(() => taken.includes('after'));
    });

    it('says at start that it cannot be reached, in time and without its password', async () => {
      const { url, options } = await (name === 'Redis' ? ownRedis() : ownPostgres());
      const connection = url.replace(/(postgres@)?127/, 'user:s3cret@127');
      const queue = sharedQueue({ ...options, connection, connectTimeout: 300 })();
      const start = Date.now();
      const error = await queue.open().catch((caught: Error) => caught);
      expect(Date.now() - start).toBeLessThan(2_000);
      expect(String(error)).toMatch(new RegExp(`${name} cannot be reached: .*ECONNREFUSED`));
      expect(JSON.stringify([logged, (error as Error).stack, error])).not.toContain('s3cret');
    });
  });
});
