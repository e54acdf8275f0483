import { createRequire } from 'node:module';

import { Logger } from '@nestjs/common';
import type { DeliveryQueue, DeliveryQueueFactory, Lease } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const require = createRequire(import.meta.url);
/** Another copy of the package numbers deliveries by itself, as another process does: the build in CommonJS. */
const copy = {
  ...(require('nestjs-analytics-relay/bullmq') as typeof import('nestjs-analytics-relay/bullmq')),
  ...(require('nestjs-analytics-relay/postgres') as typeof import('nestjs-analytics-relay/postgres')),
};

const messages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({
    destination: 'Webhooks',
    source: 'shop',
    messageId: `m${from + index}`,
    userId: 'u1',
    body: Buffer.from('{}'),
    acceptedAt: Date.now(),
  }));

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`A listing on ${store.name}`, () => {
    const afterwards = useCleanUps();
    const open = async (factory: DeliveryQueueFactory): Promise<DeliveryQueue> => {
      return openQueue(afterwards, factory);
    };

    it('has each record once on its pages, whichever process added it', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const one = await open(sharedQueue(options));
      const other = await open(sharedQueue(options, copy));
      const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
      await Promise.all([one.add(messages(0, 25)), other.add(messages(25, 51))]);
      now.mockRestore();
      const listed: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await one.list({}, { limit: 10, after });
        if (page.length === 0) break;
        listed.push(...page.map(({ messageId }) => messageId));
        after = page.at(-1)!.id;
      }
      expect(listed.sort()).toEqual(
        messages(0, 51)
          .map(({ messageId }) => messageId)
          .sort(),
      );
    });

    // PostgreSQL keeps retries in their place.
    (store.name === 'Redis' ? it : it.skip)('begins with the newest, though retries came due after them', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await open(sharedQueue(options));
      await queue.add(messages(0, 300));
      const leases: Lease[] = [];
      const leasing = queue.consume('Webhooks', 300).subscribe((lease) => leases.push(lease));
      await waitFor(() => leases.length === 300);
      leasing.unsubscribe();
      // Only now, because none may come due before the last one is stored.
      const nextAttemptAt = Date.now() + 5_000;
      await Promise.all(leases.map((lease) => lease.settle({ state: 'waiting', nextAttemptAt, failedUrls: [] })));
      await queue.add(messages(300, 320));
      await waitFor(() => Date.now() > nextAttemptAt);
      // Each take makes the retries ready that are due by then; some may be due a little later than asked for.
      const taking = queue.consume('Webhooks', 1).subscribe(({ settle }) => void settle(undefined));
      afterwards(() => taking.unsubscribe());
      await waitFor(async () => (await queue.counts()).every(({ state }) => state !== 'waiting'));
      const page = await queue.list({ state: 'queued' }, { limit: 3 });
      expect(page.map(({ messageId }) => messageId)).toEqual(['m319', 'm318', 'm317']);
    });
  });
});
