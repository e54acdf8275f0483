import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { Lease } from 'nestjs-analytics-relay';
import { expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { describeOnEach, REDIS_URL, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const REASON = 'address not allowed by delivery.allowedNetworks';

await describeOnEach([redisStore], (store) => {
  const afterwards = useCleanUps();

  it('dead deliveries are not read to find that the network policy stopped none of them', async () => {
    const { options, remove } = store.create();
    afterwards(remove);
    const queue = await openQueue(afterwards, sharedQueue(options));
    const [destination, source, userId, body, acceptedAt] = ['Webhooks', 'shop', 'u1', Buffer.from('{}'), Date.now()];
    const add = (ids: string[]) =>
      queue.add(ids.map((messageId) => ({ destination, source, messageId, userId, body, acceptedAt })));
    const reasonOf = ({ delivery }: Lease) =>
      delivery.messageId === 'refused' ? REASON : 'every URL failed permanently';
    const consumer = queue
      .consume(destination, 20)
      .subscribe((lease) => void lease.settle({ state: 'dead', reason: reasonOf(lease), failedUrls: [] }));
    const dead = async () => (await queue.counts()).find(({ state }) => state === 'dead')?.count ?? 0;
    await add(Array.from({ length: 500 }, (_, index) => `m${index}`));
    await waitFor(async () => (await dead()) === 500);

    const redis = new Redis(REDIS_URL);
    const monitor = await redis.monitor();
    afterwards(() => [redis, monitor].forEach((client) => client.disconnect()));
    let reads = 0;
    let ends = 0;
    monitor.on('monitor', (_time: string, [command, key = '']: string[]) => {
      if (key.startsWith(options.prefix!) && /^(hgetall|zrange|zrevrange)$/i.test(command!)) reads++;
      if (key === `${options.prefix}:end`) ends++;
    });
    const query = { destination, reason: REASON };
    const replay = async (expected: number) => {
      [reads, ends] = [0, 0];
      expect(await queue.replay(query)).toBe(expected);
      await redis.get(`${options.prefix}:end`);
      await waitFor(() => ends > 0);
      return reads;
    };
    expect(await replay(0)).toBe(0);

    await add(['refused']);
    await waitFor(async () => (await dead()) === 501);
    consumer.unsubscribe();
    await queue.idle();
    await waitFor(async () => (await redis.keys(`${options.prefix}:*:seen:${REASON}`)).length === 1);
    expect(await replay(1)).toBeGreaterThan(500);
    expect(await replay(0)).toBe(0);
    expect(await dead()).toBe(500);
  });
});
