import { Logger } from '@nestjs/common';
import type { DeliveryQueue, Lease, NewDelivery } from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { describeOnEach, postgresStore, redisStore, type SharedPlace } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const message = (messageId: string, fields: Partial<NewDelivery> = {}): NewDelivery => ({
  ...newDelivery(messageId),
  userId: 'u1',
  ...fields,
});

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`repeated messages on ${store.name}`, () => {
    let place: SharedPlace;
    const queues: DeliveryQueue[] = [];

    const open = async (retention?: object) => {
      const queue = sharedQueue({ ...place.options, retention })();
      queues.push(queue);
      await queue.open();
      return queue;
    };
    const names = async (queue: DeliveryQueue) => (await queue.list({})).map(({ messageId }) => messageId).reverse();

    beforeEach(() => {
      place = store.create();
    });
    afterEach(async () => {
      for (const queue of queues.splice(0)) await queue.close();
      await place.remove();
    });

    it('are left out, in one call and in the next, from one process and from another', async () => {
      const [one, other] = [await open(), await open()];
      await one.add([message('a'), message('b'), message('a')]);
      await other.add([message('b'), message('c')]);
      await Promise.all([one.add([message('d')]), other.add([message('d')])]);
      expect(await names(one)).toEqual(['a', 'b', 'c', 'd']);
    });

    it('are others when their destination or source is another', async () => {
      const queue = await open();
      await queue.add([message('a'), message('a', { source: 'blog' }), message('a', { destination: 'Other' })]);
      expect(await queue.list({ messageId: 'a' })).toHaveLength(3);
    });

    it('are left out when the first one has ended, and when its record is gone', async () => {
      const queue = await open({ delivered: { count: 0 }, dead: { count: 0 } });
      const leases: Lease[] = [];
      queue.consume('Webhooks', 4).subscribe((lease) => {
        leases.push(lease);
        const attempt = { startedAt: Date.now(), results: [] };
        if (lease.delivery.messageId === 'good') void lease.settle({ state: 'delivered', attempt });
        else void lease.settle({ state: 'dead', attempt, reason: 'refused', failedUrls: [] });
      });
      await queue.add([message('good'), message('bad')]);
      const ended = async () => (await queue.counts()).filter(({ state }) => state === 'delivered' || state === 'dead');
      await waitFor(async () => (await ended()).length === 2);
      await queue.add([message('good'), message('bad')]);
      expect((await queue.sweep()).removed).toBe(2);
      expect(await queue.counts()).toEqual([]);
      await queue.add([message('good'), message('bad'), message('last')]);
      await waitFor(() => leases.length === 3);
      expect(leases[2]!.delivery.messageId).toBe('last');
    });

    it('are left out when the first one was purged', async () => {
      const queue = await open();
      await queue.add([message('a'), message('b', { userId: 'u2' })]);
      expect(await queue.purge({ userId: 'u1' })).toBe(1);
      await queue.add([message('a'), message('b'), message('c')]);
      expect(await names(queue)).toEqual(['b', 'c']);
    });

    it('hold what a database has no character for', async () => {
      const queue = await open();
      const body = Buffer.from(JSON.stringify({ text: '\u0000\ud800' }));
      const odd = message('m\u0000\ud800', { userId: '\u0000', body });
      await queue.add([odd]);
      await queue.add([odd]);
      expect(await queue.list({})).toMatchObject([{ ...odd, body: body.toString() }]);
    });
  });
});
