import { fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { openQueue } from '../../support/open-queue.js';

/** Windows has no modes. */
(process.platform === 'win32' ? describe.skip : describe)(
  'What the SQLite queue writes, its owner alone may read',
  () => {
    const cleanUp = useCleanUps();

    async function createFolder() {
      const folder = await temporaryFolder(cleanUp);
      return folder.path;
    }

    /** Opens a queue in a process with that umask, and adds a delivery. */
    async function openWith(umask: string, path: string): Promise<void> {
      const child = fork('test/apps/queue.app.mjs', [path], {
        execPath: '/bin/sh',
        execArgv: ['-c', `umask ${umask}; exec "${process.execPath}" "$@"`, 'sh'],
      });
      cleanUp(() => child.kill('SIGKILL'));
      expect((await once(child, 'message'))[0]).toEqual({ command: 'open' });
    }

    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    const modesIn = (folder: string) =>
      Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(`${folder}/${name}`)]));

    async function open(path: string): Promise<void> {
      const queue = await openQueue(cleanUp, sqliteQueue({ path }));
      await queue.add([newDelivery('m1')]);
    }

    it.each(['000', '022', '277'])('whatever the umask: %s', async (umask) => {
      const path = await createFolder();
      await openWith(umask, path('made/too/relay.db'));
      expect(modesIn(path('made/too'))).toEqual({ 'relay.db': '600', 'relay.db-wal': '600' });
      expect([modeOf(path('made')), modeOf(path('made/too'))]).toEqual(['700', '700']);
    });

    it('but a folder that was there stays as it is', async () => {
      const path = await createFolder();
      mkdirSync(path('shared'));
      chmodSync(path('shared'), 0o775);
      await open(path('shared/relay.db'));
      expect(modeOf(path('shared'))).toBe('775');
      expect(modesIn(path('shared'))).toEqual({ 'relay.db': '600', 'relay.db-wal': '600' });
    });

    it('as well where others could before', async () => {
      const path = await createFolder();
      await open(path('relay.db'));
      mkdirSync(path('copy'));
      for (const name of ['relay.db', 'relay.db-wal']) {
        copyFileSync(path(name), path(`copy/${name}`));
        chmodSync(path(`copy/${name}`), 0o664);
      }
      symlinkSync(path('copy/relay.db'), path('link.db'));
      await open(path('link.db'));
      expect(modesIn(path('copy'))).toEqual({ 'relay.db': '600', 'relay.db-wal': '600' });
    });

    it('but for a file that it refuses', async () => {
      const path = await createFolder();
      writeFileSync(path('relay.db'), 'no database '.repeat(100));
      chmodSync(path('relay.db'), 0o644);
      await expect(open(path('relay.db'))).rejects.toThrow('is not a SQLite database');
      expect(modesIn(path('.'))).toEqual({ 'relay.db': '644' });
    });

    it('and neither may others read a backup, complete or under way', async () => {
      const path = await createFolder();
      const queue = await openQueue(cleanUp, sqliteQueue({ path: path('relay.db') }));
      const body = randomBytes(1024 * 1024);
      for (let index = 0; index < 32; index++) await queue.add([{ ...newDelivery(`m${index}`), body }]);
      mkdirSync(path('backups'));
      const command = `umask 000; exec "$@"`;
      const args = [
        'bin/nestjs-analytics-relay.mjs',
        'backup',
        '--from',
        path('relay.db'),
        '--out',
        path('backups/b.db'),
      ];
      const backup = spawn('/bin/sh', ['-c', command, 'sh', process.execPath, ...args]);
      const ended = once(backup, 'exit');
      const seen = new Set<string>();
      let isRunning = true;
      void ended.then(() => (isRunning = false));
      while (isRunning) {
        for (const folder of ['.', 'backups']) {
          for (const name of readdirSync(path(folder))) {
            const stats = statSync(path(`${folder}/${name}`), { throwIfNoEntry: false });
            if (stats?.isFile()) seen.add((stats.mode & 0o777).toString(8));
          }
        }
        await setImmediate();
      }
      expect(await ended).toEqual([0, null]);
      expect([...seen]).toEqual(['600']);
      expect(modesIn(path('backups'))).toEqual({ 'b.db': '600' });
    });
  },
);
