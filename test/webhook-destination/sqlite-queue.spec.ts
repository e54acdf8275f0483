import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { keepBackupMark } from '../support/backup-mark.js';
import { useCleanUps } from '../support/clean-ups.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { openQueue } from '../support/open-queue.js';

describe('The file of the SQLite queue', () => {
  const afterwards = useCleanUps();

  async function setUp() {
    const folder = await temporaryFolder(afterwards);
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
        delivered: { age: 24 * HOUR, bytes: expect.any(Number) as number },
        dead: { age: 30 * 24 * HOUR, count: 100_000 },
        messageIds: { age: 24 * HOUR, count: 1_000_000 },
        refused: { age: 7 * 24 * HOUR, count: 1_000 },
      },
    });
  });

  it('is not :memory:, which SQLite would not see as a file', () => {
    expect(() => sqliteQueue({ path: ':memory:' })).toThrow(
      "sqliteQueue: path must not be ':memory:'; for a queue in memory, use memoryQueue()",
    );
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

  it('holds its log back while a backup copies it, but up to a bound, as a backup may hang', async () => {
    const { path, createQueue } = await setUp();
    const queue = await openQueue(afterwards, createQueue);
    afterwards(keepBackupMark(path));
    let last = 0;
    const add = (body: Buffer) =>
      queue.add([{ destination: 'W', source: 'shop', messageId: `m${last++}`, userId: 'u1', body, acceptedAt: 1 }]);
    for (let index = 0; index < 12; index++) await add(randomBytes(1024 * 1024));
    const held = statSync(`${path}-wal`).size;
    expect(held).toBeGreaterThan(12 * 1024 * 1024);
    truncateSync(`${path}-wal`, 1024 * 1024 * 1024); // sparse, and beyond what SQLite reads of it
    for (let index = 0; index < 2; index++) await add(Buffer.from('{}'));
    expect(statSync(`${path}-wal`).size).toBe(64 * 1024 * 1024); // what it keeps when it is copied
    expect(statSync(path).size).toBeGreaterThan(12 * 1024 * 1024);
  });

  it('does not change while a backup copies it, however much is written', async () => {
    const { path, createQueue } = await setUp();
    const queue = await openQueue(afterwards, createQueue);
    let last = 0;
    /** More than the log holds before it is copied into the file. */
    const fill = async () => {
      for (let index = 0; index < 12; index++) {
        const body = randomBytes(1024 * 1024);
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
    await openQueue(afterwards, createQueue);
    await expect(createQueue().open()).rejects.toThrow(
      `SQLite queue ${path}: it is already open; each process needs its own file or a shared queue`,
    );
  });
});
