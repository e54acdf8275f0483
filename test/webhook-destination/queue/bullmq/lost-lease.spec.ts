import { fork } from 'node:child_process';
import { once } from 'node:events';

import { Logger } from '@nestjs/common';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { openQueue } from '../../../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`A lease whose process was killed, on ${store.name}`, () => {
    const cleanUp = useCleanUps();

    it('goes to another process, and begins no retry window', async () => {
      const { options, remove } = store.create();
      cleanUp(remove);
      const queue = await openQueue(cleanUp, sharedQueue(options));
      const delivery = {
        destination: 'Webhooks',
        source: 'shop',
        messageId: 'm1',
        userId: 'u1',
        acceptedAt: Date.now(),
      };
      await queue.add([{ ...delivery, body: Buffer.from('{}') }]);

      const child = fork('test/apps/lease.app.mjs', [JSON.stringify(options)]);
      cleanUp(() => child.kill('SIGKILL'));
      expect(await once(child, 'message')).toEqual(['m1', undefined]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const killedAt = Date.now();

      const lease = await firstValueFrom(queue.consume('Webhooks', 1));
      expect(lease.delivery).toMatchObject({
        messageId: 'm1',
        attempts: [],
        failedUrls: [],
        firstAttemptAt: undefined,
      });
      expect(Date.now() - killedAt).toBeLessThan(27_000);
      const attempt = { startedAt: Date.now(), results: [] };
      expect(await lease.settle({ state: 'delivered', attempt })).toBe(true);
      expect(await queue.list({})).toMatchObject([{ state: 'delivered', firstAttemptAt: attempt.startedAt }]);
    });
  });
});
