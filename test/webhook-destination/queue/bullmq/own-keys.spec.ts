import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { ownRedis } from '../../../support/own-services.js';
import { describeOnEach, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

/** What BullMQ sends by itself: its scripts, and the read of a job. */
const BULLMQ = ['evalsha', 'hgetall'];

/** The keys of the queue itself. */
const OWN =
  /^relay:(due|peer|purged|check|destinations|unreadable|\{layout\}|\{accepted\}:Webhooks|\{registry\}:\w+|\{searched\}:Webhooks|\{log\}:(names|ages)|Webhooks:seen:[\w-]+)$/;

await describeOnEach([redisStore], () => {
  describe('A queue on Redis', () => {
    const afterwards = useCleanUps();

    it('touches no key of BullMQ but through BullMQ', async () => {
      const service = await ownRedis();
      afterwards(() => service.remove());
      await service.start();
      const redis = new Redis(service.url);
      const monitor = await redis.monitor();
      afterwards(() => [redis, monitor].forEach((client) => client.disconnect()));
      const foreign: string[][] = [];
      let ownCommands = 0;
      monitor.on('monitor', (_time: string, args: string[], source: string) => {
        const command = args[0]!.toLowerCase();
        // The first time that a script of BullMQ's runs, it is sent whole, with the comment that it begins with.
        const isScript = command === 'eval' && args[1]!.startsWith('--[[');
        if (source === 'lua' || BULLMQ.includes(command) || isScript) return;
        const keys = args.slice(1).filter((arg) => arg.startsWith('relay:'));
        if (keys.every((key) => OWN.test(key))) ownCommands += keys.length;
        else foreign.push(args);
      });

      const queue = sharedQueue(service.options)();
      await queue.open();
      await queue.add(['m0', 'm1', 'm2', 'm3'].map(newDelivery));
      const outcomes = ['delivered', 'dead', 'waiting'] as const;
      const consumer = queue.consume('Webhooks', 4).subscribe((lease) => {
        const attempt = { startedAt: Date.now(), results: [] };
        const state = outcomes[Number(lease.delivery.messageId[1])];
        const rest = { attempt, reason: 'refused', nextAttemptAt: Date.now() + 60_000, failedUrls: [] };
        if (state) void lease.settle({ state, ...rest });
      });
      await waitFor(async () => (await queue.counts()).length === 4);
      expect(await queue.list({})).toHaveLength(4);
      await queue.replay({ state: 'dead' });
      await queue.expedite('Webhooks');
      consumer.unsubscribe();
      await queue.purge({ messageId: 'm0' });
      await queue.sweep();
      await queue.check();
      await queue.close();
      expect(foreign).toEqual([]);
      expect(ownCommands).toBeGreaterThan(0);
    });
  });
});
