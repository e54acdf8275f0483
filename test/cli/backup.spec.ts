import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import Database from 'libsql';
import { type DeliveryRecord, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { runCommand, spawnCommand } from '../support/command.js';
import { newDelivery } from '../support/new-delivery.js';
import { canMount, mounting } from '../support/mounting.js';
import { post } from '../support/post.js';
import { Receiver } from '../support/receiver.js';
import { RelayProcess } from '../support/relay.process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';

/** Requests side by side, messages of each, and bytes of each message: the log begins anew several times a second. */
const POSTERS = 8;
const BATCH = 20;
const PADDING = 'x'.repeat(8_000);

describe('backup', () => {
  const cleanUp = useCleanUps();

  async function createFolder() {
    const folder = await temporaryFolder(cleanUp);
    return folder;
  }

  /** A closed queue with one delivery. */
  async function createQueue(path: string): Promise<void> {
    const queue = sqliteQueue({ path })();
    await queue.open();
    await queue.add([newDelivery('m1')]);
    await queue.close();
  }

  function createWithoutTables(path: string): void {
    const db = new Database(path);
    db.exec('CREATE TABLE old (id); DROP TABLE old');
    db.close();
  }

  /** Opens a copy as an application does: at once, and alone. */
  async function read(path: string): Promise<DeliveryRecord[]> {
    const queue = sqliteQueue({ path })();
    await queue.open();
    try {
      const all: DeliveryRecord[] = [];
      for (let page: DeliveryRecord[] = []; ;) {
        page = await queue.list({}, { limit: 1_000, after: page[page.length - 1]?.id });
        all.push(...page);
        if (page.length < 1_000) return all;
      }
    } finally {
      await queue.close();
    }
  }

  function problemsOf(path: string): unknown {
    const db = new Database(path);
    try {
      return db.pragma('integrity_check');
    } finally {
      db.close();
    }
  }

  /** Posts batches until it is stopped. */
  function load(host: string) {
    const acknowledged = new Set<string>();
    let last = 0;
    let stopped = false;
    const run = async () => {
      while (!stopped) {
        const batch = Array.from({ length: BATCH }, () => ({
          type: 'track',
          event: 'Load',
          userId: 'u1',
          messageId: `m${last++}`,
          properties: { PADDING },
        }));
        const answer = await post(`${host}/v1/batch`, { batch });
        await answer.arrayBuffer();
        if (answer.status === 200) for (const { messageId } of batch) acknowledged.add(messageId);
      }
    };
    const ended = Promise.all(Array.from({ length: POSTERS }, run));
    const stop = () => {
      stopped = true;
      return ended;
    };
    return { acknowledged, stop };
  }

  /** Counts how often a log began anew. */
  function watchLog(path: string) {
    const headers = new Set<string>();
    let stopped = false;
    const ended = (async () => {
      while (!stopped) {
        const log = await open(`${path}-wal`);
        const { buffer } = await log.read(Buffer.alloc(32), 0, 32, 0);
        await log.close();
        headers.add(buffer.toString('hex'));
        await sleep(20);
      }
    })();
    const stop = async () => {
      stopped = true;
      await ended;
      return headers.size;
    };
    return { stop };
  }

  it.each([
    ['the log is held back', true],
    ['the log goes on', false],
  ])('copies the file of an application under load, consistently, while %s', async (_how, isHeldBack) => {
    const folder = await createFolder();
    const path = folder.path('relay.db');
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    const retention = { delivered: { count: 1_000_000 } };
    const relay = await RelayProcess.start({ database: path, retention, urls: [receiver.url] });
    cleanUp(() => relay.kill());
    if (!isHeldBack) {
      // A backup that may not write beside the file.
      await mkdir(`${path}-backup`);
      await utimes(`${path}-backup`, 0, 0);
    }
    const { acknowledged, stop } = load(relay.host);
    cleanUp(stop);
    const log = watchLog(path);
    cleanUp(log.stop);
    await waitFor(() => acknowledged.size > 500);
    const expected = [...acknowledged];
    const out = folder.path('backup.db');
    expect(await spawnCommand('backup', '--from', path, '--out', out)).toMatchObject({ code: 0, stderr: '' });
    expect((await readdir(folder.path('.'))).filter((name) => /tmp|backup.db-/.test(name))).toEqual([]);
    expect(await log.stop()).toBeGreaterThan(1);
    await stop();
    expect(await relay.end()).toBe(0);
    const found = new Set((await read(out)).map(({ messageId }) => messageId));
    expect(expected.filter((messageId) => !found.has(messageId))).toEqual([]);
    expect(problemsOf(out)).toMatchObject([{ integrity_check: 'ok' }]);
  });

  it('makes one file for its owner alone, which delivers what was not delivered when it is restored', async () => {
    const { path } = await createFolder();
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    receiver.statuses = [503];
    const delivery = { initialRetryDelay: 50, maxRetryDelay: 50 };
    const relay = await RelayProcess.start({ database: path('relay.db'), urls: [receiver.url], delivery });
    cleanUp(() => relay.kill());
    const answer = await post(`${relay.host}/v1/track`, { event: 'Paid', userId: 'u1', messageId: 'm1' });
    expect(answer.status).toBe(200);
    const { code, stdout } = await runCommand('backup', '--from', path('relay.db'), '--out', path('copy.db'));
    const { size, mode } = await stat(path('copy.db'));
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Backed up ${path('relay.db')} to ${path('copy.db')}: ${size} bytes\n`,
    });
    expect(mode & 0o777).toBe(0o600);
    expect((await readdir(path('.'))).sort()).toEqual(['copy.db', 'relay.db', 'relay.db-wal']);
    await relay.kill();

    await rm(path('relay.db'));
    await rm(path('relay.db-wal'));
    await rename(path('copy.db'), path('relay.db'));
    const before = receiver.webhooks.length;
    receiver.statuses = [200];
    const restored = await RelayProcess.start({ database: path('relay.db'), urls: [receiver.url], delivery });
    cleanUp(() => restored.kill());
    await waitFor(() => receiver.webhooks.length > before);
    expect(receiver.webhooks[before]!.headers['x-message-id']).toBe('m1');
  });

  it('copies what a crash left in the log, and leaves the file as it is', async () => {
    const { path } = await createFolder();
    const relay = await RelayProcess.start({ database: path('relay.db'), urls: ['http://127.0.0.1:9/'] });
    cleanUp(() => relay.kill());
    expect((await post(`${relay.host}/v1/track`, { event: 'Paid', userId: 'u1', messageId: 'm1' })).status).toBe(200);
    await relay.kill();
    const files = () => Promise.all(['relay.db', 'relay.db-wal'].map((name) => readFile(path(name), 'latin1')));
    const before = await files();
    expect(await runCommand('backup', '--from', path('relay.db'), '--out', path('copy.db'))).toMatchObject({ code: 0 });
    expect(await files()).toEqual(before);
    expect(await read(path('copy.db'))).toMatchObject([{ messageId: 'm1' }]);
  });

  it('replaces a file only with --force, and never the queue itself', async () => {
    const { path } = await createFolder();
    await createQueue(path('relay.db'));
    await writeFile(path('copy.db'), 'kept');
    await symlink(path('relay.db'), path('link.db'));
    const backup = (...args: string[]) => runCommand('backup', '--from', path('relay.db'), '--out', ...args);
    const refused = await backup(path('copy.db'));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toBe(
      `backup: ${path('copy.db')} exists already; name another file, or replace it with --force\n`,
    );
    expect(await readFile(path('copy.db'), 'utf8')).toBe('kept');
    for (const name of ['relay.db', 'relay.db-wal', 'relay.db-backup', 'link.db']) {
      expect((await backup(path(name), '--force')).stderr).toMatch(`${path(name)} belongs to the queue`);
    }
    await mkdir(path('folder'));
    expect((await backup(path('folder'), '--force')).stderr).toMatch('is a folder; name a file in it');
    expect((await backup(path('missing/copy.db'))).stderr).toMatch(
      `backup: the folder ${path('missing')} does not exist`,
    );

    // What is left of a file that is replaced would be taken for changes of the new one.
    await writeFile(path('copy.db-wal'), 'left behind');
    expect(await backup(path('copy.db'), '--force')).toMatchObject({ code: 0, stderr: '' });
    expect(await read(path('copy.db'))).toMatchObject([{ messageId: 'm1' }]);
  });

  it('says why a file changes faster than it can be copied', async () => {
    const { path } = await createFolder();
    await createQueue(path('relay.db'));
    await rm(path('relay.db-wal'), { force: true });
    await symlink('/dev/urandom', path('relay.db-wal')); // a log whose header is another each time it is read
    const backup = () => runCommand('backup', '--from', path('relay.db'), '--out', path('copy.db'));
    const start = `backup: ${path('relay.db')} changes faster than it can be copied; `;
    await symlink('/proc/version', path('relay.db-backup')); // as if another user had left it behind: nobody can write it
    expect(await backup()).toEqual({ code: 1, stdout: '', stderr: `${start}try again when there is less load\n` });
    await mkdir(path('relay.db-backup'));
    expect((await backup()).stderr).toBe(
      `${start}the folder ${path('.')} cannot be written (ERR_FS_EISDIR), so the application was not asked to hold ` +
        'back changes: run the command as a user that can write there\n',
    );
  });

  (canMount ? it : it.skip)('names the disk of the copy when that is full', async () => {
    const { path } = await createFolder();
    await createQueue(path('relay.db'));
    await mkdir(path('disk'));
    const out = path('disk/copy.db');
    const command = [process.execPath, 'bin/nestjs-analytics-relay.mjs', 'backup', '--from', path('relay.db')];
    const [program, ...args] = [...mounting(path('disk'), 'size=16k'), ...command, '--out', out];
    const { stderr } = await promisify(execFile)(program, args).catch((error: { stderr: string }) => error);
    expect(stderr).toBe(`backup: ${out}: the disk is full; free some space on it\n`);
    expect(await readdir(path('.'))).toEqual(['disk', 'relay.db']);
  });

  const text = 'a text that is longer than the header of a database '.repeat(20);
  it.each([
    ['is no database', (file: string) => writeFileSync(file, text), 'is not a SQLite database'],
    ['has no tables', createWithoutTables, 'does not contain a queue yet'],
  ])('refuses a file that %s, and leaves nothing behind', async (_what, create, reason) => {
    const { path } = await createFolder();
    create(path('relay.db'));
    const { code, stderr } = await runCommand('backup', '--from', path('relay.db'), '--out', path('copy.db'));
    expect(code).toBe(1);
    expect(stderr).toMatch(`backup: ${path('relay.db')}: the file ${reason}`);
    expect(await readdir(path('.'))).toEqual(['relay.db']);
  });
});
