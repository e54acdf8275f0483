import { setTimeout as sleep } from 'node:timers/promises';

import type { DeliveryCount, DeliveryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../support/shared-queue.js';
import { useCleanUps } from '../support/clean-ups.js';
import { Random } from '../support/random.js';
import { describeOnEach, postgresStore, redisStore } from '../support/services.js';
import { Tenants } from './tenants.js';
import { openQueue } from '../support/open-queue.js';

/** How long what was in delivery in a killed process takes until it is ended, at most, in ms. */
const ENDS_WITHIN = 90_000;

/** Processes killed. */
const KILLS = 6;

async function openOf(queue: DeliveryQueue): Promise<DeliveryCount[]> {
  return (await queue.counts()).filter(({ state }) => state !== 'delivered' && state !== 'dead');
}

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`The registry of four processes on one ${store.name}`, () => {
    const afterwards = useCleanUps();

    it('loses nothing, and sends only where and as the last change says, while it changes and processes are killed', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const seed = Date.now() % 2 ** 31;
      const tenants = new Tenants(options, new Random(seed));
      await tenants.start();
      afterwards(() => tenants.stop());
      await tenants.run(KILLS);

      const queue = await openQueue(afterwards, sharedQueue(options));
      const end = Date.now() + ENDS_WITHIN;
      for (let open = await openOf(queue); open.length > 0; open = await openOf(queue)) {
        if (Date.now() > end) throw new Error(`not ended (seed ${seed}): ${tenants.describe(open)}`);
        await sleep(500);
      }

      const certain = tenants.all.filter(({ isUncertain }) => !isUncertain);
      expect(certain.flatMap(({ faults }) => faults)).toEqual([]);
      let expected = 0;
      for (const tenant of certain) {
        const due = tenants.messages.filter((message) => tenant.gets(message)).map(({ messageId }) => messageId);
        const isRemoved = tenant.existence.until !== Infinity;
        const records = isRemoved ? await queue.list({ destination: tenant.name }, { limit: 100_000 }) : [];
        const found = isRemoved ? new Set(records.map(({ messageId }) => messageId)) : tenant.received;
        expect(
          due.filter((messageId) => !found.has(messageId)),
          `lost by ${tenant.name} (seed ${seed})`,
        ).toEqual([]);
        expected += due.length;
      }
      expect(expected).toBeGreaterThan(0);
      console.info(
        `${store.name}: ${tenants.messages.length} messages, ${expected} deliveries, ${tenants.changes} changes of ` +
          `${tenants.all.length} destinations, ${tenants.kills} kills, 0 lost, 0 to the wrong place (seed ${seed})`,
      );
    }, 300_000);
  });
});
