import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { Relay } from '../../../support/relay.js';
import { ScriptedReceiver, sequence, status } from '../../../support/scripted-receiver.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`A retry that waits on ${store.name}`, () => {
    const afterwards = useCleanUps();

    it('is made on time after the only process was stopped and started again', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const receiver = await ScriptedReceiver.start(sequence(status(500), status(200)));
      afterwards(() => receiver.stop());
      const start = () =>
        Relay.start({
          destinations: [{ urls: [receiver.url] }],
          queue: sharedQueue(options),
          delivery: { initialRetryDelay: 2_000 },
        });

      const first = await start();
      await first.track('m1');
      await first.settled('retry');
      await first.stop();
      const second = await start();
      afterwards(() => second.stop());
      const [{ nextAttemptAt } = { nextAttemptAt: 0 }] = await second.service.deliveries({ state: 'waiting' });
      await waitFor(() => receiver.webhooks.length > 1);
      expect(Date.now() - nextAttemptAt!).toBeLessThan(1_500);
    });
  });
});
