import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';

import Database from 'libsql';
import { type DeliveryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

/** Two messages of 1 KB each: five batches a second make as many in ten minutes. */
const BATCHES = 3_000;

/** Attempts of each while the destination is dead. */
const ATTEMPTS = 3;

const attempt = () => ({
  startedAt: Date.now(),
  results: [{ url: 'https://receiver.example/hook', outcome: 'temporary' as const, status: 503, duration: 7 }],
});

describe('The size of the SQLite file', () => {
  const cleanUp = useCleanUps();

  async function open(): Promise<{ path: string; queue: DeliveryQueue }> {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const queue = await openQueue(cleanUp, sqliteQueue({ path, retention: { delivered: { count: 1_000 } } }));
    return { path, queue };
  }

  async function fill(queue: DeliveryQueue, batches: number, size: number): Promise<void> {
    const add = (batch: number) => {
      const common = { destination: 'W', source: 'shop', userId: 'u1', acceptedAt: Date.now() };
      const toDelivery = (name: string) => ({ ...common, messageId: `${batch}-${name}`, body: randomBytes(size) });
      return queue.add(['a', 'b'].map(toDelivery)); // random, so that no row is smaller for its compression
    };
    for (let batch = 0; batch < batches; batch += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => add(batch + index)));
    }
  }

  /** Bytes that remain where everything that the file holds is written one after the other. */
  function contentSize(path: string): number {
    const db = new Database(path);
    db.exec(`VACUUM INTO '${path}-compact'`);
    db.close();
    const { size } = statSync(`${path}-compact`);
    rmSync(`${path}-compact`);
    return size;
  }

  it('is at most 1.2 times what it holds, ten minutes into an outage and after it', async () => {
    const { path, queue } = await open();
    await fill(queue, BATCHES, 1_000);
    let failed = 0;
    queue.consume('W', 64).subscribe(({ settle }) => {
      const isDead = failed < BATCHES * 2 * ATTEMPTS;
      if (isDead) failed++;
      void settle(
        isDead
          ? { state: 'waiting', attempt: attempt(), nextAttemptAt: Date.now(), failedUrls: [] }
          : { state: 'delivered', attempt: attempt() },
      );
    });
    await waitFor(() => failed === BATCHES * 2 * ATTEMPTS);
    const peak = statSync(path).size;
    await queue.idle();
    expect((await queue.sweep()).removed).toBe(BATCHES * 2 - 1_000);
    const { size } = statSync(path);
    expect(size).toBeLessThan(peak / 4);
    expect(statSync(`${path}-wal`).size).toBe(0);
    await queue.close();
    expect(size).toBeLessThan(1.2 * contentSize(path));
  });

  /** Bytes of the bodies in each batch, as they are and as they are stored. */
  function batchSizes(path: string): { bodies: number; stored: number }[] {
    const db = new Database(path);
    const rows = db.prepare('SELECT items, length(bodies) AS stored FROM batch ORDER BY id').all();
    db.close();
    return (rows as { items: string; stored: number }[]).map(({ items, stored }) => {
      const [, , lengths] = JSON.parse(items) as [unknown, unknown, (number | null)[]];
      return { bodies: lengths.reduce<number>((sum, length) => sum + (length ?? 0), 0), stored };
    });
  }

  it('stays small where messages repeat what their batch shares with them, of which little is read at once', async () => {
    const { path, queue } = await open();
    const context = randomBytes(15_000).toString('hex');
    const common = { destination: 'W', source: 'shop', acceptedAt: Date.now() };
    const add = (request: number) => {
      const names = Array.from({ length: 512 }, (_, index) => `${request}-${index}`);
      // One of each piece is repeated.
      for (let index = 9; index < names.length; index += 10) names[index] = names[index - 1]!;
      return queue.add(
        names.map((messageId, index) => {
          const userId = index % 10 === 0 ? 'u1' : 'u2';
          return { ...common, userId, messageId, body: Buffer.from(`{"title":"${context}","id":"${messageId}"}`) };
        }),
      );
    };
    for (let request = 0; request < 5; request++) await add(request);
    const ids = (await queue.list({}, { limit: 1_000 })).map(({ messageId }) => messageId);
    expect(ids.slice(0, 3)).toEqual(['4-511', '4-510', '4-508']);
    // More batches than one slice of a deletion.
    expect(await queue.purge({ userId: 'u1' })).toBe(5 * 52);
    expect(await queue.list({ userId: 'u1' })).toEqual([]);
    const [left] = await queue.list({ messageId: '2-101' });
    expect(left?.body).toBe(`{"title":"${context}","id":"2-101"}`);
    await queue.close();
    const sizes = batchSizes(path);
    expect(sizes.length).toBeGreaterThan(5 * 25);
    for (const { bodies } of sizes) expect(bodies).toBeLessThan(600_000);
    // The last piece of each request is not full.
    expect(sizes.filter(({ stored }) => stored > 100_000).length).toBeLessThanOrEqual(5);
  });

  it('shrinks in portions, between which others have their turn', async () => {
    const { path, queue } = await open();
    await fill(queue, 200, 100_000);
    await queue.purge({ userId: 'u1' });
    const before = statSync(path).size;
    expect(before).toBeGreaterThan(40_000_000);
    let shrunk = false;
    const sweep = queue.sweep().then(() => (shrunk = true));
    let others = 0;
    for (; !shrunk; others++) await queue.list({ id: '1' });
    await sweep;
    expect(statSync(path).size).toBeLessThan(before / 100);
    // Of 2 MiB each.
    expect(others).toBeGreaterThan(15);
  });
});
