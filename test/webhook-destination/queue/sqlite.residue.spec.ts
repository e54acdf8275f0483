import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

import { type DeliveryOutcome, type DeliveryQueue, type RetentionOptions, sqliteQueue } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Random } from '../../support/random.js';
import { Relay } from '../../support/relay.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { newDelivery } from '../../support/new-delivery.js';
import { openQueue } from '../../support/open-queue.js';
import { waitFor } from '../../support/wait-for.js';

const USERS = 40;
const DELETED = 36;

const attempt = () => ({ startedAt: Date.now(), results: [] });
const delivered = (): DeliveryOutcome => ({ state: 'delivered', attempt: attempt() });
const dead = (): DeliveryOutcome => ({ state: 'dead', attempt: attempt(), reason: 'refused', failedUrls: [] });
const waiting = (): DeliveryOutcome => {
  const nextAttemptAt = Date.now() + 3_600_000;
  return { state: 'waiting', attempt: attempt(), nextAttemptAt, failedUrls: [] };
};

/** A text that tells whose it is wherever a few bytes of it are left. */
const mark = (user: number) => `<<u${String(user).padStart(3, '0')}>>`;

/** The bytes of the file and its log as they are now, one character for each. */
const bytesOf = (path: string) => [path, `${path}-wal`].map((file) => readFileSync(file, 'latin1')).join('');

describe('The SQLite file holds nothing of users who were deleted', () => {
  const cleanUp = useCleanUps();
  let path: string;
  let queue: DeliveryQueue;
  let last = 0;

  async function open(retention: RetentionOptions): Promise<void> {
    const folder = await temporaryFolder(cleanUp);
    path = folder.path('relay.db');
    queue = await openQueue(cleanUp, sqliteQueue({ path, retention }));
  }

  /** Adds messages of any users, each with as many marks as `length` says. */
  async function add(random: Random, size: number, length: () => number): Promise<void> {
    const deliveries = Array.from({ length: size }, () => {
      const user = random.integer(0, USERS - 1);
      const body = Buffer.from(mark(user).repeat(length()));
      return { destination: 'W', source: 'shop', messageId: `m${last++}`, userId: `u${user}`, body, acceptedAt: 1 };
    });
    await queue.add(deliveries);
  }

  async function expectDeletable(): Promise<void> {
    for (let user = 0; user < DELETED; user++) await queue.purge({ userId: `u${user}` });
    const text = bytesOf(path);
    const left = Array.from({ length: USERS }, (_, user) => user).filter((user) => text.includes(mark(user)));
    expect(left).toEqual([36, 37, 38, 39]);
  }

  // SQLite takes freed pages for other rows, and leaves what these do not fill.
  it('where pages were used again', async () => {
    const random = new Random(1);
    await open({ delivered: { count: 300 }, dead: { count: 200 } });
    queue.consume('W', 64).subscribe(({ settle }) => void settle(random.pick([delivered, dead, waiting])()));
    const length = () => random.integer(1, random.chance(0.25) ? 3_000 : 120);
    for (let round = 0; round < 60; round++) {
      await Promise.all(Array.from({ length: 8 }, () => add(random, random.integer(1, 6), length)));
      if (round % 4 === 0) await Promise.all([queue.sweep(), add(random, 3, length), add(random, 2, length)]);
    }
    await expectDeletable();
  });

  // It moves rows of pages that become empty, and leaves a copy where they were.
  it('where rows were moved', async () => {
    const random = new Random(1);
    await open({});
    const length = () => random.integer(30, 400);
    for (let round = 0; round < 80; round++) {
      await Promise.all(Array.from({ length: 50 }, () => add(random, 1, length)));
    }
    await expectDeletable();
  });
});

describe('The SQLite file, while it is in use, holds no document of the registry that was replaced or removed', () => {
  const cleanUp = useCleanUps();
  afterEach(() => void vi.useRealTimers());

  it.each([3, 4])('after the next sweep, wherever SQLite has moved it (%i)', async (seed) => {
    const random = new Random(seed);
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const queue = await openQueue(cleanUp, sqliteQueue({ path }));
    const present = new Map<string, { revision: number; mark: string }>();
    const change = async (count: number, name: string) => {
      const entry = present.get(name);
      const mark = `<<s${String(count).padStart(5, '0')}>>`;
      const isRemoval = entry !== undefined && random.chance(0.2);
      const document = isRemoval ? undefined : mark.repeat(random.integer(1, 300));
      const record = { kind: 'destination', name, document } as const;
      const revision = (await queue.registry.write(record, entry?.revision ?? 0))!;
      if (isRemoval) present.delete(name);
      else present.set(name, { revision, mark });
    };
    for (let round = 0; round < 60; round++) {
      const numbers = new Set(Array.from({ length: 60 }, () => random.integer(0, 199)));
      const changes = Array.from(numbers, (number) => change(round * 200 + number, `destination ${number}`));
      await Promise.all([...changes, queue.add([newDelivery(`m${round}`)])]);
      if (round % 20 === 10) await queue.sweep();
    }
    await queue.sweep();
    const found = new Set(bytesOf(path).match(/<<s\d{5}>>/g));
    expect([...found].sort()).toEqual([...present.values()].map(({ mark }) => mark).sort());
  });

  it('after the backup that was running at the sweep', async () => {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const queue = await openQueue(cleanUp, sqliteQueue({ path }));
    const entry = { kind: 'destination', name: 'crm' } as const;
    const revision = await queue.registry.write({ ...entry, document: 's3cret' }, 0);
    writeFileSync(`${path}-backup`, ''); // as a backup does
    await queue.registry.write({ ...entry, document: undefined }, revision!);
    await queue.sweep();
    expect(bytesOf(path)).toContain('s3cret');
    rmSync(`${path}-backup`);
    await queue.add([newDelivery('m1')]);
    expect(bytesOf(path)).not.toContain('s3cret');
  });

  it('at its sweeps, whichever processes wrote it and however they ended, and nothing in plain with registrySecret', async () => {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    for (const prefix of ['one', 'other']) {
      const child = fork('test/apps/registry.app.mjs', [JSON.stringify({ prefix, path })]);
      cleanUp(() => void child.kill('SIGKILL'));
      let changes = 0;
      child.on('message', ({ done }: { done?: object }) => void (changes += done ? 1 : 0));
      await waitFor(() => changes >= 30);
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    expect(bytesOf(path)).toMatch(/s3cret-one-\d/);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const relay = await Relay.start({
      queue: sqliteQueue({ path }),
      registry: 'store',
      registrySecret: 'a secret of 16 characters or more',
    });
    cleanUp(() => relay.stop());
    const { destinations } = relay.service;
    const { sharedSecret } = await destinations.create({ name: 'crm', urls: ['https://customer.example/hook'] });
    await destinations.rotateSecret('crm', { overlap: 0 });
    expect(bytesOf(path)).toContain('s3cret-');
    await waitFor(() => {
      vi.advanceTimersByTime(15_000);
      return !/s3cret-|"options":/.test(bytesOf(path));
    });
    expect(bytesOf(path)).not.toContain(sharedSecret);
    expect((await destinations.list()).length).toBeGreaterThan(1);
  });
});
