import { randomUUID } from 'node:crypto';

import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { DeliveryQueue } from 'nestjs-analytics-relay';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue, type SharedQueueOptions } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { Forwarder } from '../../../support/forwarder.js';
import { describeOnEach, postgresStore, queryPostgres, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

/** Longest time from a change to its signal, in ms. */
const SOON = 1_000;

const lines: string[] = [];
for (const level of ['log', 'warn', 'error'] as const) {
  vi.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => void lines.push(String(line)));
}

/** How the connections of a queue are recognised, counted and ended; those that listen are some of all. */
const connections = {
  Redis: {
    named: (url: string, name: string) => {
      const { hostname: host, port } = new URL(url);
      return { host, port: Number(port), connectionName: name };
    },
    async ids(name: string, listening: boolean): Promise<string[]> {
      const redis = new Redis(redisStore.url);
      const list = (await redis.call('CLIENT', 'LIST', ...(listening ? ['TYPE', 'pubsub'] : []))) as string;
      redis.disconnect();
      const own = list.split('\n').filter((line) => line.includes(` name=${name} `));
      return own.map((line) => /^id=(\d+)/.exec(line)![1]!);
    },
    async kill(id: string): Promise<void> {
      const redis = new Redis(redisStore.url);
      await redis.call('CLIENT', 'KILL', 'ID', id);
      redis.disconnect();
    },
  },
  PostgreSQL: {
    named: (url: string, name: string) => ({ connectionString: url, application_name: name }),
    async ids(name: string, listening: boolean): Promise<string[]> {
      const rows = await queryPostgres(
        `SELECT pid FROM pg_stat_activity WHERE application_name = '${name}'
         ${listening ? `AND query ILIKE 'LISTEN relay%'` : ''}`,
      );
      return (rows as { pid: number }[]).map(({ pid }) => String(pid));
    },
    async kill(id: string): Promise<void> {
      await queryPostgres(`SELECT pg_terminate_backend(${id})`);
    },
  },
};

await describeOnEach([redisStore, postgresStore], (store) => {
  const { named, ids, kill } = connections[store.name as keyof typeof connections];

  describe(`The registry of two queues on one ${store.name}`, () => {
    const cleanUp = useCleanUps();
    let options: SharedQueueOptions;
    let writer: DeliveryQueue;
    let name: string;

    const start = async (connection: SharedQueueOptions['connection']) => {
      return openQueue(cleanUp, sharedQueue({ ...options, connection }));
    };
    beforeEach(async () => {
      const place = store.create();
      cleanUp(place.remove);
      options = place.options;
      name = `test-${randomUUID()}`;
      writer = await start(options.connection);
      lines.length = 0;
    });

    const change = async (of: string) => {
      const record = { kind: 'destination', name: of, document: '{}' } as const;
      const revision = await writer.registry.write(record, 0);
      expect(revision).toBeGreaterThan(0);
      return revision!;
    };
    /** Counts the signals of a queue, from the one on that it listens. */
    const listen = async (queue: DeliveryQueue) => {
      const heard = { signals: 0, isOver: false };
      const subscription = queue.registry.changed$!.subscribe({
        next: () => heard.signals++,
        complete: () => (heard.isOver = true),
      });
      cleanUp(() => subscription.unsubscribe());
      await waitFor(() => heard.signals > 0);
      return { heard, subscription };
    };
    const isHeard = async (heard: { signals: number }, action: () => Promise<unknown>) => {
      const { signals } = heard;
      await action();
      await waitFor(() => heard.signals > signals, undefined, SOON);
    };

    it('tells the other of each change within a second, also of one that removes', async () => {
      const reader = await start(options.connection);
      const { heard } = await listen(reader);
      let last = 0;
      const changed = async () => {
        const records = await reader.registry.read(last);
        last = records.at(-1)!.revision;
        return records.map((record) => record.name);
      };
      await isHeard(heard, () => change('a'));
      expect(await changed()).toEqual(['a']);
      await isHeard(heard, () => change('b'));
      expect(await changed()).toEqual(['b']);
      const removal = { kind: 'destination', name: 'b', document: undefined } as const;
      await isHeard(heard, () => writer.registry.write(removal, last));
      expect(await changed()).toEqual(['b']);
      const { signals } = heard;
      expect(await writer.registry.write(removal, last)).toBeUndefined(); // it changes nothing
      await isHeard(heard, () => change('c'));
      expect(heard.signals).toBe(signals + 1);
    });

    it('hears nothing of what other queues have in the same store', async () => {
      const { heard } = await listen(await start(options.connection));
      const place = store.create();
      cleanUp(place.remove);
      const other = await openQueue(cleanUp, sharedQueue(place.options));
      await other.registry.write({ kind: 'source', name: 'a', document: '{}' }, 0);
      await isHeard(heard, () => change('a'));
      expect(heard.signals).toBe(2);
    });

    it('takes one connection while somebody listens, and ends with the queue', async () => {
      const reader = await start(named(store.url, name));
      await reader.counts();
      const before = (await ids(name, false)).length;
      expect(await ids(name, true)).toEqual([]);
      const one = await listen(reader);
      const two = reader.registry.changed$!.subscribe();
      expect(await ids(name, true)).toHaveLength(1);
      expect(await ids(name, false)).toHaveLength(before + 1);
      two.unsubscribe();
      await isHeard(one.heard, () => change('a'));
      one.subscription.unsubscribe();
      await waitFor(async () => (await ids(name, false)).length === before);
      const { heard } = await listen(reader);
      await isHeard(heard, () => change('b'));
      await reader.close();
      expect(heard.isOver).toBe(true);
      await waitFor(async () => (await ids(name, false)).length === 0);
    });

    it('goes on after its connection was ended, and then tells that something may have changed', async () => {
      const { heard } = await listen(await start(named(store.url, name)));
      for (let time = 0; time < 3; time++) {
        const [id, ...others] = await ids(name, true);
        expect(others).toEqual([]);
        await isHeard(heard, () => kill(id!));
        await isHeard(heard, () => change(`d${time}`));
      }
      expect(lines.filter((line) => line.includes('unavailable'))).toEqual([]);
    });

    it('goes on after its connection fell silent', async () => {
      const forwarder = await Forwarder.start(cleanUp, store.url);
      const { heard } = await listen(await start(forwarder.url));
      forwarder.mute();
      await waitFor(() => heard.signals > 1);
      await isHeard(heard, () => change('a'));
    });
  });
});
