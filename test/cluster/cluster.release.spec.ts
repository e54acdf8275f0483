import { EventEmitter } from 'node:events';

import { Logger } from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../support/shared-queue.js';
import { CrashReceiver, type Edges } from '../crash/crash.receiver.js';
import { useCleanUps } from '../support/clean-ups.js';
import { ownPostgres, ownRedis } from '../support/own-services.js';
import { describeOnEach, postgresStore, redisStore } from '../support/services.js';
import { Cluster, CONCURRENCY } from './cluster.js';
import { openQueue } from '../support/open-queue.js';

/** Messages in all. */
const MESSAGES = Number(process.env.CLUSTER_MESSAGES ?? 50_000);

vi.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);

await describeOnEach([redisStore, postgresStore], ({ name }) => {
  describe(`Four processes on one ${name}`, () => {
    const afterwards = useCleanUps();

    it('lose nothing while they and the store are killed, and repeat only what was in flight', async () => {
      const service = await (name === 'Redis' ? ownRedis() : ownPostgres());
      afterwards(() => service.remove());
      await service.start();
      const receiver = await CrashReceiver.start(new EventEmitter<Edges>(), () => undefined);
      afterwards(() => receiver.stop());
      const cluster = new Cluster(service, receiver);
      afterwards(() => cluster.stop());
      const start = Date.now();
      await cluster.start();
      await cluster.load(MESSAGES);

      const queue = await openQueue(afterwards, sharedQueue(service.options));
      const count = async (...states: string[]) =>
        (await queue.counts()).filter(({ state }) => states.includes(state)).reduce((sum, row) => sum + row.count, 0);
      while ((await count('queued', 'delivering', 'waiting')) > 0)
        await new Promise((resolve) => setTimeout(resolve, 500));

      const { acknowledged, kills, repeated, refused } = cluster;
      expect(refused).toBeGreaterThan(0);
      const gone = acknowledged.filter((messageId) => messageId.startsWith('gone'));
      expect(new Set(acknowledged).size).toBe(acknowledged.length);
      expect(await count('dead')).toBe(gone.length);
      expect(await count('delivered')).toBe(acknowledged.length - gone.length);
      const unseen = acknowledged.filter((messageId) => !receiver.attempts.has(messageId));
      expect(unseen).toEqual([]);
      const good = acknowledged.filter((messageId) => !messageId.startsWith('gone'));
      expect(good.filter((messageId) => !receiver.successes.has(messageId))).toEqual([]);

      const twice = [...receiver.successes.values()].reduce((sum, times) => sum + times - 1, 0);
      expect(twice).toBeLessThanOrEqual((kills.deliver + 2 * kills.store) * CONCURRENCY);
      console.info(
        `${name}: ${acknowledged.length} acknowledged in ${Math.round((Date.now() - start) / 1_000)} s, ` +
          `kills: ${JSON.stringify(kills)}, ${repeated} posts repeated, ${refused} of them refused, 0 lost, ${twice} delivered twice`,
      );
    }, 600_000);
  });
});
