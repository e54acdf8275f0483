import { readFileSync } from 'node:fs';

import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Redis } from 'ioredis';
import type { DeliveryOutcome } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { openQueue } from '../../../support/open-queue.js';
import { ownRedis } from '../../../support/own-services.js';
import { post } from '../../../support/post.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { describeOnEach, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

const warnings: string[] = [];
vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void warnings.push(String(line)));
vi.spyOn(console, 'warn').mockImplementation(() => undefined); // ioredis, about INFO
afterEach(() => void warnings.splice(0));

const NO_CHANNELS = 'The Redis user lacks permissions for signals between processes: +publish +subscribe &relay:*';
const NO_INFO = 'The Redis user lacks +info';

/** The user in docs/scaling.md. */
const [, DOCUMENTED = ''] = /ACL SETUSER relay on >password (.*?)```/s.exec(readFileSync('docs/scaling.md', 'utf8'))!;

await describeOnEach([redisStore], () => {
  describe('A user of Redis with few permissions', () => {
    const afterwards = useCleanUps();

    /** Starts a Redis whose user `relay` has these rules. */
    async function start(rules: string) {
      const service = await ownRedis();
      afterwards(() => service.remove());
      await service.start();
      const admin = new Redis(service.url);
      afterwards(() => admin.disconnect());
      const setUser = (rules: string) => admin.call('ACL', 'SETUSER', 'relay', ...rules.split(/\s+/));
      await setUser(`on >password ${rules.trim()}`);
      const connection = service.url.replace('//', '//relay:password@');
      return { setUser, options: { ...service.options, connection } };
    }

    it('who has no channels gets 200 for each message, its delivery, and one warning at start', async () => {
      const { options } = await start('~relay:* +@all -@dangerous');
      const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: { queue: sharedQueue(options), registry: 'store', registrySecret: 'a secret of this test only' },
      });
      expect(warnings).toEqual([expect.stringContaining(NO_INFO), expect.stringContaining(NO_CHANNELS)]);
      const answer = await post(`${host}/v1/track`, { userId: 'u1', event: 'Ordered', messageId: 'm1' });
      expect(answer.status).toBe(200);
      expect((await receiver.received(1))[0]!.headers['x-message-id']).toBe('m1');
    });

    it('who loses the channels later still adds deliveries and changes the registry', async () => {
      const { setUser, options } = await start('~relay:* &relay:* +@all -@dangerous');
      const queue = await openQueue(afterwards, sharedQueue(options));
      expect(warnings).toEqual([expect.stringContaining(NO_INFO)]);
      await setUser('resetchannels');
      await queue.add([newDelivery('m0')]);
      const revision = await queue.registry.write({ kind: 'source', name: 'shop', document: '{}' }, 0);
      expect(await queue.registry.read(0)).toMatchObject([{ name: 'shop', revision }]);
      expect(await queue.counts()).toEqual([{ destination: 'Webhooks', state: 'queued', count: 1 }]);
    });

    it('who has those of docs/scaling.md can do everything, and is warned of nothing', async () => {
      const { options } = await start(DOCUMENTED);
      const queue = await openQueue(afterwards, sharedQueue(options));
      const other = await openQueue(afterwards, sharedQueue(options));
      await queue.add(['m0', 'm1', 'm2', 'm3', 'm4'].map(newDelivery));
      const attempt = { startedAt: Date.now(), results: [] };
      const rest = { attempt, reason: 'refused', nextAttemptAt: Date.now() + 60_000, failedUrls: [] };
      const outcomes: (DeliveryOutcome | undefined)[] = [
        { state: 'delivered', attempt },
        { state: 'dead', ...rest },
        { state: 'waiting', ...rest },
        undefined,
      ];
      let returned = 0;
      const consumer = other.consume('Webhooks', 5).subscribe(({ delivery, settle }) => {
        const index = Number(delivery.messageId[1]);
        if (index < 3 || (index === 3 && returned++ === 0)) void settle(outcomes[index]);
      });
      const states = async () => (await queue.counts()).map(({ state, count }) => `${count} ${state}`).join(', ');
      await waitFor(async () => (await states()) === '2 delivering, 1 waiting, 1 delivered, 1 dead');
      expect(await queue.list({})).toHaveLength(5);
      expect(await queue.oldest()).toHaveLength(1);
      expect(await queue.replay({ state: 'dead' })).toBe(1);
      expect(await queue.expedite('Webhooks')).toBe(1);
      consumer.unsubscribe();
      expect(await queue.purge({ messageId: 'm0' })).toBe(1);
      await queue.registry.write({ kind: 'source', name: 'shop', document: '{}' }, 0);
      await queue.series.write([{ series: 's', minute: 0, writer: 'w', text: 't' }], 0);
      expect(await queue.series.read('s', 0, 0)).toHaveLength(1);
      const received: string[] = [];
      afterwards(() => following.unsubscribe());
      const following = other.peers!.received$.subscribe((text) => received.push(text));
      await waitFor(async () => {
        await queue.peers!.send('hello');
        return received.includes('hello');
      });
      await queue.sweep();
      await queue.check();
      await other.close(); // returns what it has leased
      expect(warnings).toEqual([]);
    });

    it.each([
      ['a command', `${DOCUMENTED} -zmscore`, '+zmscore'],
      ['the keys', DOCUMENTED.replace('~relay:*', '~other:*'), '~relay:*'],
      ['some of the keys', DOCUMENTED.replace('~relay:*', '~relay:due'), '~relay:*'],
      ['scripts', '~relay:* +@read', '+eval'],
    ])('is named what is missing, at start: %s', async (_what, rules, missing) => {
      const { options } = await start(rules);
      await expect(sharedQueue(options)().open()).rejects.toMatchObject({
        code: 'queue_unavailable',
        message: `bullmqQueue: the Redis user lacks permissions: ${missing}`,
      });
    });

    it('who may only run scripts is named every command of docs/scaling.md', async () => {
      const { options } = await start('~relay:* +eval');
      const documented = DOCUMENTED.match(/\+\w+/g)!.filter((name) => !/publish|subscribe|info|\+eval$/.test(name));
      await expect(sharedQueue(options)().open()).rejects.toThrow(`lacks permissions: ${documented.join(' ')}`);
    });
  });
});
