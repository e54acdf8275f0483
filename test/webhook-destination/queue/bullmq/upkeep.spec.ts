import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { PostgresQueueBackend } from 'bullmq';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';

import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { describeOnEach, postgresStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

await describeOnEach([postgresStore], (store) => {
  describe('A queue on PostgreSQL', () => {
    const afterwards = useCleanUps();
    afterEach(() => {
      jest.restoreAllMocks();
    });

    it('looks for lost leases once its own are renewed: at once, the two would lock each other out', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = bullmqQueue(options)();
      await queue.open();
      afterwards(() => queue.close());
      const { prototype } = PostgresQueueBackend;
      const { extendLocks, moveStalledJobsToWait } = prototype;
      const steps: string[] = [];
      jest.spyOn(prototype, 'extendLocks').mockImplementation(async function (this: never, ...args) {
        steps.push('renewing');
        await new Promise((resolve) => setTimeout(resolve, 200));
        const failed = await extendLocks.apply(this, args);
        steps.push('renewed');
        return failed;
      });
      jest.spyOn(prototype, 'moveStalledJobsToWait').mockImplementation(async function (this: never) {
        steps.push('looking');
        return moveStalledJobsToWait.apply(this);
      });
      await queue.add([newDelivery('m0')]);
      queue.consume('Webhooks', 1).subscribe();
      await waitFor(() => steps.includes('renewed') && steps.at(-1) === 'looking');
      expect(steps.slice(steps.indexOf('renewing'))).toEqual(['renewing', 'renewed', 'looking']);
    });
  });
});
