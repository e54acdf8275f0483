import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { postgresWithStandby, redisBehindAddress, redisWithSentinel } from '../../../support/failover.services.js';
import { IngestLoad } from '../../../support/ingest.load.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

/** Deliveries in flight at once. */
const CONCURRENCY = 16;

/** Messages acknowledged before the store is lost, and again once the other is in its place. */
const PART = 200;

/** Longest wait, in ms: a lease that nobody knows of any more comes back within 25 s. */
const RECOVERS_WITHIN = 60_000;

for (const level of ['log', 'warn', 'error'] as const) {
  vi.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
}

const failovers = {
  Redis: {
    'is killed and its replica promoted by a sentinel': redisWithSentinel,
    'changes places with its replica': redisBehindAddress,
  },
  PostgreSQL: { 'is killed and its standby promoted': postgresWithStandby },
};

await describeOnEach([redisStore, postgresStore], ({ name }) => {
  describe.each(Object.entries(failovers[name as keyof typeof failovers]))(`a relay whose ${name} %s`, (_, create) => {
    const afterwards = useCleanUps();

    it('refuses messages with 503 meanwhile, goes on by itself, and loses none that it accepted', async () => {
      const store = await create(afterwards);
      const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: {
          queue: sharedQueue(store.options),
          delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency: CONCURRENCY },
        },
      });
      const load = new IngestLoad(host);
      afterwards(() => load.abandon());
      const more = (count: number) => {
        const goal = load.acknowledged.length + count;
        return waitFor(
          () => load.acknowledged.length >= goal,
          () => `${goal} messages, got ${load.acknowledged.length}`,
          RECOVERS_WITHIN,
        );
      };
      await more(PART);
      if (store.caughtUp) {
        await load.pause();
        await store.caughtUp();
      }
      await store.lose();
      load.resume();
      await waitFor(() => load.refusals.length > 0);
      await store.promoted();
      await more(PART);
      await load.stop();

      for (const { status, retryAfter, time } of load.refusals) {
        expect({ status, retryAfter }).toEqual({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) });
        expect(time).toBeLessThan(12_000);
      }
      const missing = () => {
        const got = new Set(receiver.webhooks.map(({ headers }) => headers['x-message-id'] as string));
        return load.acknowledged.filter((id) => !got.has(id));
      };
      await waitFor(
        () => missing().length === 0,
        () => `the deliveries of ${missing().join(', ')}`,
        RECOVERS_WITHIN,
      );
      expect(receiver.webhooks.length - load.acknowledged.length).toBeLessThanOrEqual(CONCURRENCY);
    }, 300_000);
  });
});
