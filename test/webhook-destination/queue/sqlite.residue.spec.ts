import { readFileSync } from 'node:fs';

import { type DeliveryOutcome, type DeliveryQueue, type RetentionOptions, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Random } from '../../support/random.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { openQueue } from '../../support/open-queue.js';

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
    const text = [path, `${path}-wal`].map((file) => readFileSync(file, 'latin1')).join('');
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
