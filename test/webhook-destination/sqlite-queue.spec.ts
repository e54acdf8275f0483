import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { type DeliveryOutcome, type Lease, sqliteQueue } from 'nestjs-analytics-relay';

import { useCleanUps } from '../support/clean-ups.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';

const waiting = (): DeliveryOutcome => ({
  state: 'waiting',
  attempt: { startedAt: Date.now(), results: [] },
  nextAttemptAt: Date.now() + 60_000,
  failedUrls: [],
});

describe('The file of the SQLite queue', () => {
  const afterwards = useCleanUps();

  async function setUp() {
    const folder = await temporaryFolder();
    afterwards(folder.remove);
    const path = folder.path('missing/folder/relay.db');
    return { path, createQueue: sqliteQueue({ path }) };
  }

  it('is made with its folders, and can be opened again once closed', async () => {
    const { createQueue } = await setUp();
    for (let times = 0; times < 3; times++) {
      const queue = createQueue();
      await queue.open();
      await queue.close();
    }
  });

  it('is ./data/relay.db by default, and keeps ended deliveries as long as is documented', () => {
    const HOUR = 3_600_000;
    expect(sqliteQueue()()).toMatchObject({
      store: { path: resolve('data/relay.db') },
      retention: {
        delivered: { age: 24 * HOUR, count: 10_000 },
        dead: { age: 30 * 24 * HOUR, count: 100_000 },
        messageIds: { age: 24 * HOUR, count: 1_000_000 },
      },
    });
  });

  it('of another program is refused with the reason, and let go', async () => {
    const { path, createQueue } = await setUp();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'no database, but a text that is longer than the header of one: '.repeat(20));
    const queue = createQueue();
    await expect(queue.open()).rejects.toThrow(
      `SQLite queue ${path}: the file is not a SQLite database; use another file`,
    );
    await queue.close();
    rmSync(path);
    await queue.open();
    await queue.close();
  });

  it('holds nothing of what was purged, even in its log', async () => {
    const { path, createQueue } = await setUp();
    const queue = createQueue();
    await queue.open();
    afterwards(() => queue.close());
    const message = (messageId: string, userId: string) => {
      const body = Buffer.from(`{"userId":"${userId}","text":"${`secret of ${userId} `.repeat(1_000)}"}`);
      return { destination: 'W', source: 'shop', messageId, userId, body, acceptedAt: Date.now() };
    };
    const stored = () => [path, `${path}-wal`].map((file) => readFileSync(file).toString('latin1')).join('');
    await queue.add([message('m1', 'u1'), message('m2', 'u2')]);
    const subscription = queue.consume('W', 1).subscribe(({ settle }) => void settle(waiting()));
    await queue.idle();
    subscription.unsubscribe();
    await queue.add([message('m3', 'u1'), message('m4', 'u2')]);
    expect(stored()).toContain('secret of u1');
    expect(await queue.purge({ userId: 'u1' })).toBe(2);
    expect(stored()).not.toContain('secret of u1');
    expect(stored()).toContain('secret of u2');
    expect(await queue.list({})).toHaveLength(2);
  });

  it('holds nothing in its log of a message that was purged after its record was swept', async () => {
    const { path } = await setUp();
    const queue = sqliteQueue({ path, retention: { dead: { count: 0 } } })();
    await queue.open();
    afterwards(() => queue.close());
    const message = (messageId: string, userId: string) => {
      const body = Buffer.from(`{"text":"${`secret of ${userId} `.repeat(1_000)}"}`);
      return { destination: 'W', source: 'shop', messageId, userId, body, acceptedAt: 1 };
    };
    const leases: Lease[] = [];
    const subscription = queue.consume('W', 2).subscribe((lease) => leases.push(lease));
    afterwards(() => subscription.unsubscribe());
    await queue.add([message('m1', 'u1'), message('m2', 'u2')]); // one batch, which the second keeps
    await waitFor(() => leases.length === 2);
    const attempt = { startedAt: Date.now(), results: [] };
    await leases[0]!.settle({ state: 'dead', attempt, reason: 'gone', failedUrls: [] });
    expect(await queue.sweep()).toBe(1);
    expect(await queue.purge({ userId: 'u1' })).toBe(0);
    expect(readFileSync(`${path}-wal`)).toHaveLength(0);
    expect(readFileSync(path).toString('latin1').includes('secret of u2')).toBe(true);
  });

  describe('while a backup copies it', () => {
    /** A file with what was purged in its log, and a backup that goes on until it is ended. */
    async function purge() {
      const { path, createQueue } = await setUp();
      const queue = createQueue();
      await queue.open();
      afterwards(() => queue.close());
      const endBackup = keepMark(path);
      const message = (messageId: string, userId: string) => {
        const body = Buffer.from(`{"text":"${`secret of ${userId} `.repeat(1_000)}"}`);
        return { destination: 'W', source: 'shop', messageId, userId, body, acceptedAt: 1 };
      };
      await queue.add([message('m1', 'u1')]);
      const log = () => readFileSync(`${path}-wal`);
      const header = log().subarray(0, 32);
      expect(await queue.purge({ userId: 'u1' })).toBe(1);
      expect(log().subarray(0, 32).equals(header)).toBe(true);
      expect(log().toString('latin1')).toContain('secret of u1');
      return { path, queue, createQueue, log, endBackup, message };
    }

    /** Keeps the mark of a backup new. */
    function keepMark(path: string): () => void {
      const renew = () => {
        writeFileSync(`${path}-backup`, '');
        utimesSync(`${path}-backup`, new Date(), new Date());
      };
      renew();
      const timer = setInterval(renew, 200);
      const end = () => {
        clearInterval(timer);
        rmSync(`${path}-backup`, { force: true });
      };
      afterwards(end);
      return end;
    }

    it('keeps its log with what was purged, and empties it afterwards', async () => {
      const { queue, log, endBackup, message } = await purge();
      await expect(queue.add([{ ...message('m2', 'u2'), acceptedAt: 'never' as never }])).rejects.toThrow();
      endBackup();
      await queue.add([message('m3', 'u3')]);
      expect(log()).toHaveLength(0);
    });

    it('leaves nothing of what was purged when it closes', async () => {
      const { path, queue } = await purge();
      await queue.close();
      expect(existsSync(`${path}-wal`)).toBe(false);
      expect(readFileSync(path).toString('latin1')).not.toContain('secret of u1');
    });

    it('empties its log after a crash, when it is opened again', async () => {
      const { path } = await purge();
      const copy = `${path}.copy`;
      for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix);
      const again = sqliteQueue({ path: copy })();
      await again.open();
      afterwards(() => again.close());
      expect(readFileSync(`${copy}-wal`)).toHaveLength(0);
      expect(readFileSync(copy).toString('latin1')).not.toContain('secret of u1');
    });

    it('holds its log back up to a bound, as a backup may hang', async () => {
      const { path, queue, message } = await purge();
      for (let index = 0; index < 12; index++) {
        await queue.add([{ ...message(`l${index}`, 'u2'), body: Buffer.alloc(1024 * 1024, 'x') }]);
      }
      const held = statSync(`${path}-wal`).size;
      expect(held).toBeGreaterThan(12 * 1024 * 1024);
      truncateSync(`${path}-wal`, 1024 * 1024 * 1024); // sparse, and beyond what SQLite reads of it
      for (let index = 0; index < 2; index++) await queue.add([message(`m${index + 2}`, 'u2')]);
      expect(statSync(`${path}-wal`).size).toBeLessThan(held);
      expect(statSync(path).size).toBeGreaterThan(12 * 1024 * 1024);
    });
  });

  it('does not change while a backup copies it, however much is written', async () => {
    const { path, createQueue } = await setUp();
    const queue = createQueue();
    await queue.open();
    afterwards(() => queue.close());
    let last = 0;
    /** More than the log holds before it is copied into the file. */
    const fill = async () => {
      for (let index = 0; index < 12; index++) {
        const body = Buffer.alloc(1024 * 1024, 'x');
        const common = { destination: 'W', source: 'shop', userId: undefined, acceptedAt: Date.now() };
        await queue.add([{ ...common, messageId: `m${last++}`, body }]);
      }
    };
    await fill();
    const sizeBefore = statSync(path).size;
    expect(sizeBefore).toBeGreaterThan(8 * 1024 * 1024);
    writeFileSync(`${path}-backup`, '');
    await fill();
    expect(statSync(path).size).toBe(sizeBefore);
    // One that was killed holds up nothing.
    utimesSync(`${path}-backup`, 0, 0);
    await fill();
    expect(statSync(path).size).toBeGreaterThan(sizeBefore);
  });

  it('is refused while it is open elsewhere, with an error that says so', async () => {
    const { path, createQueue } = await setUp();
    const queue = createQueue();
    await queue.open();
    afterwards(() => queue.close());
    await expect(createQueue().open()).rejects.toThrow(
      `SQLite queue ${path}: it is open already; each process needs a file of its own, or a shared queue`,
    );
  });
});
