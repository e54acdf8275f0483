import { fork } from 'node:child_process';
import { once } from 'node:events';

import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Redis } from 'ioredis';
import type { DeliveryOutcome, DeliveryQueue, Lease } from 'nestjs-analytics-relay';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue, type SharedQueueOptions } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { ownRedis } from '../../../support/own-services.js';
import { post } from '../../../support/post.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { describeOnEach, REDIS_URL, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const delivered = (): DeliveryOutcome => ({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });

await describeOnEach([redisStore], (store) => {
  const afterwards = useCleanUps();
  const connect = (url = REDIS_URL) => {
    const redis = new Redis(url);
    afterwards(() => redis.disconnect());
    return redis;
  };
  const create = () => {
    const { options, remove } = store.create();
    afterwards(remove);
    return options;
  };
  const open = async (options: SharedQueueOptions): Promise<DeliveryQueue> => {
    return openQueue(afterwards, sharedQueue(options));
  };

  describe('A process on Redis', () => {
    it('has two connections, however many destinations it consumes', async () => {
      const options = create();
      const { hostname: host, port } = new URL(REDIS_URL);
      const connection = { host, port: Number(port), connectionName: options.prefix };
      const queue = await open({ ...options, connection });
      const names = Array.from({ length: 200 }, (_, index) => `tenant-${index}`);
      const taken = new Set<string>();
      for (const name of names) {
        queue.consume(name, 4).subscribe((lease) => {
          void lease.settle(delivered()).then(() => taken.add(name));
        });
      }
      await queue.add(names.map((destination) => ({ ...newDelivery('m1'), destination })));
      await waitFor(() => taken.size === names.length);
      const list = (await connect().client('LIST')) as string;
      expect(list.match(new RegExp(`name=${options.prefix} `, 'g'))).toHaveLength(2);
    });

    it('consumes the destinations that have deliveries, and none of them is listed as due once all is delivered', async () => {
      const options = create();
      const queue = sharedQueue(options)();
      const consume = vi.spyOn(queue, 'consume');
      const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: {
          queue: () => queue,
          sources: ['shop', 'blog'].map((name) => ({ name, writeKey: `wk_${name}` })),
          destinations: ['Busy', 'Idle'].map((name) => ({
            name,
            sources: [name === 'Busy' ? 'shop' : 'blog'],
            urls: ['http://127.0.0.1:1/unused'],
            transform: () => undefined,
          })),
        },
      });
      expect(receiver.webhooks).toEqual([]);
      await post(`${host}/v1/track`, { userId: 'u1', event: 'Ordered', messageId: 'm1' }, 'wk_shop');
      const redis = connect();
      await waitFor(async () => (await queue.counts()).some(({ state }) => state === 'delivered'));
      await waitFor(async () => (await redis.exists(`${options.prefix}:due`)) === 0);
      expect(consume.mock.calls.map(([name]) => name)).toEqual(['Busy']);
    });

    it('learns of what is due though the signal was lost', async () => {
      const service = await ownRedis();
      afterwards(() => service.remove());
      await service.start();
      const [one, other] = [await open(service.options), await open(service.options)];
      const named: string[] = [];
      other.due$.subscribe((name) => named.push(name));
      const redis = connect(service.url);
      const listeners = async () => Number(((await redis.pubsub('NUMSUB', 'relay:due')) as [string, number])[1]);
      await waitFor(async () => (await listeners()) === 1);
      await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await one.add([newDelivery('m1')]); // before anybody listens again
      await waitFor(() => named.includes('Webhooks'));
    });

    it('names a destination before its next check is due, so that a consumer takes a retry on time', async () => {
      const options = create();
      const queue = await open(options);
      const dueAt = Date.now() + 3_000;
      await connect().zadd(`${options.prefix}:due`, dueAt, 'Webhooks');
      const name = await firstValueFrom(queue.due$);
      expect(name).toBe('Webhooks');
      expect(Date.now()).toBeLessThan(dueAt);
    });

    it('takes a retry that was planned by one that was killed, though it did not consume the destination', async () => {
      const options = create();
      const queue = await open(options);
      const leases: Lease[] = [];
      await queue.add([newDelivery('m1')]);
      const child = fork('test/apps/lease.app.mjs', [JSON.stringify(options), '3000']);
      afterwards(() => child.kill('SIGKILL'));
      expect(await once(child, 'message')).toEqual(['m1', undefined]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const [waiting] = await queue.list({ state: 'waiting' });
      let isConsumed = false;
      queue.due$.subscribe((name) => {
        if (!isConsumed) queue.consume(name, 1).subscribe((lease) => leases.push(lease));
        isConsumed = true;
      });
      await waitFor(() => leases.length > 0);
      expect(Date.now()).toBeGreaterThanOrEqual(waiting!.nextAttemptAt!);
      expect(leases[0]!.delivery).toMatchObject({ messageId: 'm1' });
    });
  });

  describe('What is added while a destination is found to have nothing due', () => {
    it('is not forgotten, however the two meet', async () => {
      const options = create();
      const [one, other] = [await open(options), await open(options)];
      const redis = connect();
      let seen = 0;
      for (let round = 0; round < 300; round++) {
        const destination = `tenant-${round % 3}`;
        // Once there is nothing, the destination is taken off the list.
        const settling: Promise<unknown>[] = [];
        const consumption = other
          .consume(destination, 4)
          .subscribe((lease) => settling.push(lease.settle(delivered())));
        const consumed = other.idle().then(() => consumption.unsubscribe());
        if (round % 2 === 0) await consumed;
        for (let turn = 0; turn < round % 7; turn++) await Promise.resolve();
        await one.add([{ ...newDelivery(`m${round}`), destination }]);
        await consumed;
        await Promise.all(settling);
        const queued = (await one.counts()).filter((row) => row.destination === destination && row.state === 'queued');
        if (queued.length > 0) {
          seen++;
          expect(await redis.zscore(`${options.prefix}:due`, destination)).not.toBeNull();
        }
      }
      expect(seen).toBeGreaterThan(0);
      const waiting = new Set(await redis.zrange(`${options.prefix}:due`, '0', '-1'));
      for (const name of waiting) {
        const consumption = other.consume(name, 4).subscribe((lease) => void lease.settle(delivered()));
        await other.idle();
        consumption.unsubscribe();
      }
      await waitFor(async () => (await one.counts()).every(({ state }) => state === 'delivered'));
      await waitFor(async () => (await redis.exists(`${options.prefix}:due`)) === 0);
    });
  });
});
