import { fork } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`A process that is frozen for longer than its leases last, on ${store.name}`, () => {
    const afterwards = useCleanUps();

    it('sends nothing of what it holds in memory afterwards, and then goes on', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await openQueue(afterwards, sharedQueue(options));
      await queue.add(['m0', 'm1', 'm2'].map(newDelivery));
      const child = fork('test/apps/lease.app.mjs', [JSON.stringify(options)]);
      afterwards(() => child.kill('SIGKILL'));
      const sent: string[] = [];
      child.on('message', (messageId: string) => sent.push(messageId));
      await waitFor(async () => (await queue.list({ state: 'delivering' })).length === 3);
      await waitFor(() => sent.length === 1);
      child.kill('SIGSTOP');

      const taken: string[] = [];
      const subscription = queue.consume('Webhooks', 3).subscribe(({ delivery, settle }) => {
        taken.push(delivery.messageId);
        void settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      });
      await waitFor(() => taken.length === 3);
      await queue.idle();
      subscription.unsubscribe();
      await queue.add([newDelivery('m3')]);
      child.send('settle');
      child.kill('SIGCONT');
      await waitFor(() => sent.includes('m3'));
      expect(sent).toEqual(['m0', 'm3']);
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
  });
});
