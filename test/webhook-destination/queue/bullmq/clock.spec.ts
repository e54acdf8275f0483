import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Lease } from 'nestjs-analytics-relay';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { setClock } from '../../../support/clock.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { post } from '../../../support/post.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const HOUR = 3_600_000;

const track = (messageId: string) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId });
const names = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`When the clock is set back, a queue on ${store.name}`, () => {
    const afterwards = useCleanUps();
    afterEach(() => {
      vi.restoreAllMocks();
    });

    it('attempts what waits when it was to be', async () => {
      vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
      const { options, remove } = store.create();
      afterwards(remove);
      const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: {
          queue: sharedQueue(options),
          delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 500 },
        },
      });
      receiver.statuses = [...Array<number>(30).fill(503), 200];
      await post(`${host}/v1/batch`, { batch: names(20).map(track) });
      await receiver.received(10); // the circuit opens
      setClock(-HOUR);
      receiver.statuses = [503, 200];
      expect((await receiver.taken(20)).sort()).toEqual(names(20).sort());
    });

    it('leaves nothing waiting longer that was planned since, when the process is started again', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const start = async () => {
        const queue = await openQueue(afterwards, sharedQueue(options));
        const leases: Lease[] = [];
        queue.consume('Webhooks', 8).subscribe((lease) => leases.push(lease));
        return { queue, leases };
      };
      const before = await start();
      await before.queue.add(names(2).map(newDelivery));
      await waitFor(() => before.leases.length === 2);
      setClock(-HOUR);
      const nextAttemptAt = before.queue.now() + 500;
      await before.leases[0]!.settle({ state: 'waiting', nextAttemptAt, failedUrls: [] });
      await before.queue.close(); // the other lease is released
      const after = await start();
      await waitFor(() => after.leases.length === 2);
      const ids = after.leases.map(({ delivery }) => delivery.messageId).sort();
      expect(ids).toEqual(before.leases.map(({ delivery }) => delivery.messageId).sort());
    });

    it('begins the retry window of a replayed delivery by its own time', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await openQueue(afterwards, sharedQueue(options));
      await queue.add([newDelivery('m1')]);
      const lease = await firstValueFrom(queue.consume('Webhooks', 1));
      await lease.settle({ state: 'dead', reason: 'the retry window is over', failedUrls: [] });
      const diedAt = queue.now();
      setClock(-HOUR);
      expect(await queue.replay({})).toBe(1);
      const [replayed] = await queue.list({});
      expect(replayed!.firstAttemptAt).toBeGreaterThanOrEqual(diedAt);
      const [oldest] = await queue.oldest();
      expect(oldest!.dueAt).toBeGreaterThanOrEqual(diedAt);
    });
  });
});
