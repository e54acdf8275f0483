import { copyFile } from 'node:fs/promises';

import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  type DeliveryOutcome,
  type DeliveryQueue,
  type DeliveryQueueFactory,
  type NewDelivery,
  sqliteQueue,
} from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue, type SharedQueueOptions } from '../support/shared-queue.js';
import { useCleanUps } from '../support/clean-ups.js';
import { type CommandResult, runCommand, spawnCommand } from '../support/command.js';
import { Relay } from '../support/relay.js';
import { describeOnEach, postgresStore, queryPostgres, redisStore } from '../support/services.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';
import { openQueue } from '../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const message = (messageId: string): NewDelivery => ({
  destination: 'Webhooks',
  source: 'shop',
  messageId,
  userId: 'u1',
  body: Buffer.from(JSON.stringify({ messageId })),
  acceptedAt: 1_700_000_000_000,
  trace,
  recordedBy: 'OrdersController.create',
});

const attempt = { startedAt: 1_700_000_000_500, results: [] };
const failedUrls = ['https://gone.example/'];
const outcomes: Record<string, DeliveryOutcome> = {
  delivered: { state: 'delivered', attempt },
  waiting: { state: 'waiting', attempt, nextAttemptAt: Date.now() + 3_600_000, failedUrls },
  retry: { state: 'waiting', attempt, nextAttemptAt: Date.now() - 1, failedUrls },
  dead: { state: 'dead', attempt, reason: 'refused', failedUrls: [] },
};

async function run(...args: string[]): Promise<CommandResult> {
  const result = await runCommand('migrate', ...args);
  expect(result.code).toBe(0);
  return result;
}

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`migrate, from SQLite to ${store.name}`, () => {
    const cleanUp = useCleanUps();

    /** A file with deliveries of every state, and 600 more. */
    async function fill(factory: DeliveryQueueFactory): Promise<void> {
      const queue = factory();
      await queue.open();
      let settled = 0;
      const names = Object.keys(outcomes);
      await queue.add(names.map(message));
      const subscription = queue.consume('Webhooks', 4).subscribe((lease) => {
        void lease.settle(outcomes[lease.delivery.messageId]).then(() => settled++);
        if (lease.delivery.messageId === 'dead') subscription.unsubscribe();
      });
      await waitFor(() => settled === names.length);
      await queue.add(Array.from({ length: 600 }, (_, index) => message(`m${index}`)));
      await queue.close();
    }

    /** A folder for the file, and a place in the store with the arguments that name it. */
    async function prepare() {
      const folder = await temporaryFolder(cleanUp);
      const { options, remove } = store.create();
      cleanUp(remove);
      const to = ['--to', store.url, '--prefix', options.prefix!];
      return { folder, path: folder.path('relay.db'), options, to };
    }

    async function openNew(options: SharedQueueOptions): Promise<DeliveryQueue> {
      return openQueue(cleanUp, sharedQueue(options));
    }

    it('moves what is to be delivered, with its attempts and its window, and loses nothing', async () => {
      const { path, options, to } = await prepare();
      await fill(sqliteQueue({ path }));
      const args = ['--from', path, ...to];

      const { stdout } = await run(...args);
      expect(stdout).toMatch(/^602 deliveries moved\n1 dead delivery remains in .*; use --dead to deliver it again$/m);
      const queue = await openNew(options);
      const moved = await queue.list({}, { limit: 1_000 });
      expect(moved).toHaveLength(602);
      const { nextAttemptAt } = outcomes.waiting as { nextAttemptAt: number };
      expect(moved.filter(({ messageId }) => messageId === 'waiting')).toMatchObject([
        {
          state: 'waiting',
          attempts: [attempt],
          firstAttemptAt: attempt.startedAt,
          failedUrls,
          nextAttemptAt,
          trace,
          recordedBy: 'OrdersController.create',
        },
      ]);
      expect(moved.filter(({ messageId }) => messageId === 'retry')).toMatchObject([
        { state: 'queued', attempts: [attempt], firstAttemptAt: attempt.startedAt, failedUrls },
      ]);
      expect(moved.filter(({ messageId }) => messageId === 'm7')).toMatchObject([
        { ...message('m7'), body: '{"messageId":"m7"}', attempts: [], firstAttemptAt: undefined },
      ]);
      const order = moved.map(({ messageId }) => messageId).filter((name) => name.startsWith('m'));
      expect(order.reverse()).toEqual(Array.from({ length: 600 }, (_, index) => `m${index}`));

      expect((await run(...args)).stdout).toMatch(/^0 deliveries moved$/m);
      expect((await run(...args, '--dead')).stdout).toMatch(/^1 delivery moved\n$/m);
      expect((await queue.counts()).find(({ state }) => state === 'queued')!.count).toBe(602);
    });

    it('moves each delivery once, even if several have one message id', async () => {
      const { folder, path, options, to } = await prepare();
      const file = sqliteQueue({ path, retention: { messageIds: { age: 0 } } })();
      await file.open();
      for (const acceptedAt of [1_700_000_000_000, 1_700_000_000_000, 1_700_086_400_000]) {
        await file.add([{ ...message('daily'), acceptedAt }]);
      }
      await file.close();
      await copyFile(path, folder.path('copy.db'));

      expect((await run('--from', path, ...to)).stdout).toBe('3 deliveries moved\n');
      // As after a run that could not empty the file.
      const again = await spawnCommand('migrate', '--from', folder.path('copy.db'), ...to);
      expect(again.code).toBe(0);
      const queue = await openNew(options);
      await queue.add([message('daily')]);
      expect(await queue.list({})).toHaveLength(3);
    });

    it('returns to the file what the new queue refuses, as it was, and says how far it came', async () => {
      const { path, options, to } = await prepare();
      await fill(sqliteQueue({ path }));
      await (await openNew(options)).close();
      if (store === redisStore) {
        const redis = new Redis(store.url);
        cleanUp(() => redis.disconnect());
        await redis.set(`${options.prefix}:destinations`, 'no set');
      } else {
        await queryPostgres(`ALTER TABLE ${options.prefix}.relay_delivery ADD CHECK (message_id <> 'm400')`);
      }

      const { code, stdout, stderr } = await runCommand('migrate', '--from', path, ...to);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      const [, moved] = new RegExp(
        `^migrate: ${store.name}: .*\n(\\d+) deliveries moved so far; run the command again to move the rest\n$`,
      ).exec(stderr)!;
      const file = await openQueue(cleanUp, sqliteQueue({ path }));
      const records = await file.list({}, { limit: 1_000 });
      const left = records.filter(({ state }) => state !== 'delivered' && state !== 'dead');
      expect(left).toHaveLength(602 - Number(moved));
      expect(left.filter(({ attempts, firstAttemptAt }) => attempts.length === 0 && firstAttemptAt)).toEqual([]);
    });

    it('ends what it moves to a destination that was removed', async () => {
      const { path, options, to } = await prepare();
      const file = sqliteQueue({ path })();
      await file.open();
      const record = { kind: 'destination', name: 'gone' } as const;
      const revision = await file.registry.write({ ...record, document: '{}' }, 0);
      await file.registry.write({ ...record, document: undefined }, revision!);
      await file.add([{ ...message('m1'), destination: 'gone' }]);
      await file.close();

      expect((await run('--from', path, ...to)).stdout).toBe('1 delivery moved\n');
      const relay = await Relay.start({ queue: sharedQueue(options), registry: 'store' });
      cleanUp(() => relay.stop());
      expect(await relay.settled('dead')).toMatchObject([{ messageId: 'm1', reason: 'destination removed' }]);
    });

    it('copies the registry once; what the new queue changed or removed since stays so', async () => {
      const { path, options, to } = await prepare();
      const file = sqliteQueue({ path })();
      await file.open();
      const documents = { kept: '{"url":"1"}', changed: '{"url":"2"}', removed: '{"url":"3"}' };
      for (const [name, document] of Object.entries(documents)) {
        await file.registry.write({ kind: 'destination', name, document }, 0);
      }
      await file.registry.write({ kind: 'session', name: 'ended', document: '{}' }, 0); // stays in the file
      const gone = await file.registry.write({ kind: 'source', name: 'gone', document: '{}' }, 0);
      await file.registry.write({ kind: 'source', name: 'gone', document: undefined }, gone!);
      await file.close();
      const args = ['--from', path, ...to];

      expect((await run(...args)).stdout).toBe('3 sources and destinations copied\n0 deliveries moved\n');
      const queue = await openNew(options);
      const registry = queue.registry;
      const read = async () =>
        Object.fromEntries((await registry.read(0)).map(({ name, document }) => [name, document]));
      expect(await read()).toEqual(documents);
      const { revision } = (await registry.read(0)).find(({ name }) => name === 'changed')!;
      await registry.write({ kind: 'destination', name: 'changed', document: '{"url":"4"}' }, revision);
      const last = (await registry.read(0)).find(({ name }) => name === 'removed')!;
      await registry.write({ kind: 'destination', name: 'removed', document: undefined }, last.revision);

      expect((await run(...args)).stdout).toBe(
        '2 sources and destinations differ in the new queue; not copied\n0 deliveries moved\n',
      );
      expect(await read()).toEqual({ kept: documents.kept, changed: '{"url":"4"}', removed: undefined });
    });
  });
});

describe('migrate', () => {
  it('says what is wrong', async () => {
    expect((await runCommand('migrate')).stderr).toMatch('--to must be the URL');
    const { stderr } = await runCommand('migrate', '--to', 'redis://127.0.0.1:1', '--from', 'nowhere.db');
    expect(stderr).toMatch('nowhere.db does not exist');
  });
});
