import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

import { OptionsError, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { canMount, mounting, works, type Wrapper } from '../../support/mounting.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const isRoot = process.getuid?.() === 0;
/** To root, every folder is open. */
const asNobody: Wrapper = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const canBeNobody = isRoot ? works(...asNobody, process.execPath, '--version') : process.getuid !== undefined;

describe('The SQLite queue, where its file cannot be', () => {
  const cleanUp = useCleanUps();

  async function createFolder() {
    const folder = await temporaryFolder(cleanUp);
    return folder;
  }

  /** Why a queue at that path does not open. */
  async function faultOf(path: string): Promise<string> {
    const error = (await sqliteQueue({ path })()
      .open()
      .catch((reason: unknown) => reason)) as Error;
    return error.message;
  }

  /** The same, of one in a process that is run in some way. */
  async function faultIn(path: string, wrapper: string[]): Promise<string | undefined> {
    const [command, ...args] = [...wrapper, process.execPath];
    const child = fork('test/apps/queue.app.mjs', [path], { execPath: command, execArgv: args });
    cleanUp(() => child.kill('SIGKILL'));
    const [{ error }] = (await once(child, 'message')) as [{ error?: string }];
    return error;
  }

  it('names a path that is a folder', async () => {
    const { path } = await createFolder();
    mkdirSync(path('relay.db'));
    expect(await faultOf(path('relay.db'))).toBe(`SQLite queue ${path('relay.db')}: it is a folder; use a file in it`);
  });

  (process.platform === 'win32' ? it.skip : it)(
    'refuses a device, a socket and a pipe, and keeps their modes',
    async () => {
      const { path } = await createFolder();
      const server = createServer().listen(path('socket'));
      cleanUp(() => void server.close());
      await once(server, 'listening');
      execFileSync('mkfifo', ['-m', '644', path('pipe')]);
      symlinkSync('/dev/null', path('link'));
      for (const special of ['/dev/null', path('link'), path('socket'), path('pipe')]) {
        const { mode } = statSync(special);
        expect(await faultOf(special)).toBe(`SQLite queue ${special}: it is not a file; use another path`);
        expect(statSync(special).mode).toBe(mode);
      }
    },
  );

  it('leaves the mode of a folder in place of its file', async () => {
    const { path } = await createFolder();
    mkdirSync(path('relay.db'));
    chmodSync(path('relay.db'), 0o755);
    expect(await faultOf(path('relay.db'))).toMatch('it is a folder');
    expect(statSync(path('relay.db')).mode & 0o777).toBe(0o755);
  });

  it.each(['relay.db', 'data/relay.db'])('names a file in place of a folder of its path: %s', async (rest) => {
    const { path } = await createFolder();
    writeFileSync(path('file'), '');
    const queue = path(`file/${rest}`);
    expect(await faultOf(queue)).toBe(`SQLite queue ${queue}: ${path('file')} is not a folder; use another path`);
  });

  (process.platform === 'linux' ? it : it.skip)('ends its start where no folder can be made', async () => {
    expect(await faultOf('/proc/relay/relay.db')).toMatch(/^SQLite queue \/proc\/relay\/relay.db: .*; use /);
    expect(await faultOf('/proc/relay.db')).toMatch(/^SQLite queue \/proc\/relay.db: .*; use /);
  });

  (canBeNobody ? it : it.skip)('names a folder or a file that the process may not use', async () => {
    const { path } = await createFolder();
    const wrapper = isRoot ? asNobody : [];
    const uid = isRoot ? 65_534 : process.getuid!();
    chmodSync(path('.'), 0o755);
    mkdirSync(path('read-only'));
    mkdirSync(path('closed'));
    mkdirSync(path('open'));
    writeFileSync(path('open/relay.db'), '');
    chmodSync(path('read-only'), 0o555);
    chmodSync(path('closed'), 0o600);
    chmodSync(path('open'), 0o777);
    chmodSync(path('open/relay.db'), 0o400);
    const expectFault = async (file: string, action: string) =>
      expect(await faultIn(path(file), wrapper)).toBe(
        `SQLite queue ${path(file)}: user ${uid} cannot ${action}; change its permissions, or use another path`,
      );

    await expectFault('read-only/relay.db', `write to the folder ${path('read-only')}`);
    await expectFault('read-only/data/relay.db', `write to the folder ${path('read-only')}`);
    await expectFault('closed/data/relay.db', `enter the folder ${path('closed')}`);
    await expectFault('open/relay.db', 'read and write the file');
  });

  (canMount ? it : it.skip)('names a disk that is full or read-only when it opens', async () => {
    const { path } = await createFolder();
    mkdirSync(path('disk'));
    const file = path('disk/relay.db');
    expect(await faultIn(file, mounting(path('disk'), 'size=16k'))).toBe(
      `SQLite queue ${file}: the disk is full; free some space on it`,
    );
    expect(await faultIn(file, mounting(path('disk'), 'ro'))).toBe(
      `SQLite queue ${file}: ${path('disk')} is on a read-only file system; mount it writable, or use another path`,
    );
  });

  it('refuses a path that no file can have when it is configured', () => {
    expect(() => sqliteQueue({ path: './da\0ta/relay.db' })).toThrow(OptionsError);
    expect(() => sqliteQueue({ path: './da\0ta/relay.db' })).toThrow(
      'sqliteQueue: path must be a non-empty string without NUL characters',
    );
    expect(() => sqliteQueue({ path: '' })).toThrow(OptionsError);
  });
});
