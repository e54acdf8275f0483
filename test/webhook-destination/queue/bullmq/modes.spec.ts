import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { RelayMode } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { post } from '../../../support/post.js';
import { Receiver } from '../../../support/receiver.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`Two processes that share a queue on ${store.name}`, () => {
    const afterwards = useCleanUps();

    it('take messages in one, and deliver them in the other', async () => {
      const place = store.create();
      afterwards(place.remove);
      const receiver = await Receiver.start();
      afterwards(() => receiver.stop());
      const start = (mode: RelayMode) =>
        startRelayApp(afterwards, new ExpressAdapter(), {
          options: { mode, queue: sharedQueue(place.options) },
          destination: { urls: [receiver.url] },
        });
      const ingest = await start('ingest');
      const messages = ['m1', 'm2'].map((messageId) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId }));
      expect((await post(`${ingest.host}/v1/batch`, { batch: messages })).status).toBe(200);
      expect(await ingest.relay.stats()).toEqual([{ destination: 'Webhooks', state: 'queued', count: 2 }]);

      const deliver = await start('deliver');
      expect(await receiver.taken(2)).toEqual(['m1', 'm2']);
      expect((await post(`${deliver.host}/v1/batch`, { batch: messages })).status).toBe(404);
      expect((await post(`${deliver.host}/v1/track`, messages[0])).status).toBe(404);
      expect(receiver.webhooks).toHaveLength(2);
    });
  });
});
