import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { ownRedis } from '../../../support/own-services.js';
import { describeOnEach, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

await describeOnEach([redisStore], () => {
  describe('The oldest deliveries on Redis', () => {
    const afterwards = useCleanUps();

    it('are read of some destinations at a time, and of few of their deliveries', async () => {
      // ioredis fails where a command of others reaches MONITOR at once, as with the Redis that all tests share.
      const { options, start, remove, url } = await ownRedis();
      afterwards(remove);
      await start();
      const queue = await openQueue(afterwards, sharedQueue(options));
      const destinations = Array.from({ length: 120 }, (_, index) => `tenant-${index}`);
      await queue.add(destinations.map((destination) => ({ ...newDelivery('m1'), destination })));
      await queue.add(Array.from({ length: 150 }, (_, index) => newDelivery(`m${index}`)));

      const redis = new Redis(url);
      const monitor = await redis.monitor();
      afterwards(() => [redis, monitor].forEach((client) => client.disconnect()));
      let [searched, read, mostSideBySide, mostIds] = [0, 0, 0, 0];
      monitor.on('monitor', (_time: string, [command, ...args]: string[], source: string) => {
        if (source === 'lua' || !args.some((arg) => arg.startsWith(`${options.prefix}:`))) return;
        if (/^eval/i.test(command!)) mostSideBySide = Math.max(mostSideBySide, ++searched - read);
        if (!/^zmscore$/i.test(command!)) return;
        read++;
        mostIds = Math.max(mostIds, args.length - 1);
      });
      const oldest = await queue.oldest();
      await waitFor(() => read === destinations.length + 1);

      expect(oldest.map(({ destination }) => destination).sort()).toEqual([...destinations, 'Webhooks'].sort());
      expect([searched, mostSideBySide, mostIds]).toEqual([destinations.length + 1, 50, 100]);
    });
  });
});
