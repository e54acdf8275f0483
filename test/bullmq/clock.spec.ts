import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';

import { useCleanUps } from '../support/clean-ups.js';
import { setClock } from '../support/clock.js';
import { post } from '../support/post.js';
import { startRelayApp } from '../support/relay.app.js';
import { describeOnEach, postgresStore, redisStore } from '../support/services.js';

const HOUR = 3_600_000;

const track = (messageId: string) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId });
const names = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`When the clock is set back, a queue on ${store.name}`, () => {
    const afterwards = useCleanUps();
    afterEach(() => {
      jest.restoreAllMocks();
    });

    it('attempts what waits when it was to be', async () => {
      jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
      const { options, remove } = store.create();
      afterwards(remove);
      const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: {
          queue: bullmqQueue(options),
          delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 500 },
        },
      });
      receiver.statuses = [...Array<number>(30).fill(503), 200];
      await post(`${host}/v1/batch`, { batch: names(20).map(track) });
      await receiver.received(10); // the circuit opens
      setClock(-HOUR);
      receiver.statuses = [503, 200];
      expect((await receiver.taken(20)).sort()).toEqual(names(20).sort());
    }, 60_000);
  });
});
