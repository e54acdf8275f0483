import { ExpressAdapter } from '@nestjs/platform-express';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../support/shared-queue.js';
import { useCleanUps } from '../support/clean-ups.js';
import { Forwarder } from '../support/forwarder.js';
import { healthMetadata, untilHealth } from '../support/health.app.js';
import { ownPostgres, ownRedis } from '../support/own-services.js';
import { startRelayApp } from '../support/relay.app.js';
import { describeOnEach, postgresStore, redisStore } from '../support/services.js';

/** Longest time until the loss of a store shows, in ms. */
const LIMIT = 2_000;

await describeOnEach([redisStore, postgresStore], ({ name }) => {
  describe(`RelayHealthIndicator with a queue on ${name}`, () => {
    const afterwards = useCleanUps();

    async function startService() {
      const service = await (name === 'Redis' ? ownRedis() : ownPostgres());
      afterwards(() => service.remove());
      await service.start();
      return service;
    }

    async function start(options: Parameters<typeof sharedQueue>[0]) {
      const { host } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: { queue: sharedQueue(options) },
        metadata: healthMetadata({ oldestWaiting: 60_000, dead: 0 }),
      });
      await untilHealth(host, 200);
      return host;
    }

    it('is down within 2 s after the store ends, and up again after it is back', async () => {
      const service = await startService();
      const host = await start(service.options);
      for (let time = 0; time < 2; time++) {
        await service.kill();
        const { body, duration } = await untilHealth(host, 503, LIMIT);
        expect(body.error).toMatchObject({ relay: { status: 'down', message: expect.stringMatching(/./) } });
        expect(duration).toBeLessThan(LIMIT);
        await service.start();
        await untilHealth(host, 200, 5_000);
      }
    });

    it('is down within 2 s after its connections fall silent, and up again by itself', async () => {
      const service = await startService();
      const forwarder = await Forwarder.start(afterwards, service.url);
      const host = await start({ ...service.options, connection: forwarder.url });
      forwarder.mute();
      const { body } = await untilHealth(host, 503, LIMIT);
      expect(body.error).toMatchObject({ relay: { message: 'a write to the queue took longer than 1.5 s' } });
      await untilHealth(host, 200);
    });
  });
});
