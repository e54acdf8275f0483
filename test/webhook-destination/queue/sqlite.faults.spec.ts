import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';

import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { sqliteQueue } from 'nestjs-analytics-relay';

import { useCleanUps } from '../../support/clean-ups.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

interface Answer {
  command: string;
  argument?: string;
  result?: unknown;
  error?: string;
}

const hasPrlimit = (() => {
  try {
    return process.platform === 'linux' && execFileSync('prlimit', ['--version']).length > 0;
  } catch {
    return false;
  }
})();

describe('The SQLite queue, when things break', () => {
  const afterwards = useCleanUps();

  async function createPath(): Promise<string> {
    const folder = await temporaryFolder();
    afterwards(folder.remove);
    return folder.path('relay.db');
  }

  /** A process that has the file open. */
  async function startProcess(path: string) {
    const child: ChildProcess = fork('test/apps/queue.app.mjs', [path]);
    afterwards(() => child.kill('SIGKILL'));
    const answers: Answer[] = [];
    child.on('message', (answer: Answer) => answers.push(answer));
    const heard = async (command: string, argument?: string): Promise<Answer> => {
      const find = () => answers.findIndex((answer) => answer.command === command && answer.argument === argument);
      await waitFor(
        () => find() >= 0,
        () => `${command} ${argument}`,
      );
      return answers.splice(find(), 1)[0]!;
    };
    const ask = (command: string, argument?: string) => {
      child.send({ command, argument });
      return heard(command, argument);
    };
    return { pid: child.pid!, heard, ask, open: await heard('open') };
  }

  it('refuses a file that another process has open, until that process is gone', async () => {
    const path = await createPath();
    const first = await startProcess(path);
    expect(first.open.error).toBeUndefined();
    await expect(sqliteQueue({ path })().open()).rejects.toThrow(
      `SQLite queue ${path}: it is open already; each process needs a file of its own, or a shared queue`,
    );
    process.kill(first.pid, 'SIGKILL');
    const queue = sqliteQueue({ path })();
    afterwards(() => queue.close());
    await waitFor(() =>
      queue.open().then(
        () => true,
        () => false,
      ),
    );
  });

  (hasPrlimit ? it : it.skip)('refuses messages while the disk is full, and loses nothing', async () => {
    const path = await createPath();
    const { pid, heard, ask } = await startProcess(path);
    await ask('add', 'before');
    await heard('lease', 'before');
    const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);

    limit(String(statSync(`${path}-wal`).size));
    expect((await ask('add', 'refused')).error).toMatch(/^SQLite queue .*: (database or disk is full|disk I\/O error)/);
    const settled = ask('settle', 'before');
    expect((await ask('add', 'refused')).error).toMatch(/^SQLite queue/);
    expect((await ask('list')).result).toEqual(['before delivering']);

    limit('unlimited');
    expect((await settled).result).toBe(true);
    expect((await ask('add', 'after')).error).toBeUndefined();
    await heard('lease', 'after');
    expect((await ask('list')).result).toEqual(['after delivering', 'before delivered']);
  });

  it('refuses everything once its thread has ended, and says so', async () => {
    Logger.overrideLogger(false);
    const path = await createPath();
    const queue = sqliteQueue({ path })();
    await queue.open();
    afterwards(() => queue.close());
    await (queue as unknown as { store: { worker: Worker } }).store.worker.terminate();
    const error = `SQLite queue ${path}: its thread has ended; open the queue again`;
    await expect(
      queue.add([
        { destination: 'W', source: 's', messageId: 'm', userId: undefined, body: Buffer.from('{}'), acceptedAt: 1 },
      ]),
    ).rejects.toThrow(error);
    await expect(queue.list({})).rejects.toThrow(error);
    await queue.open();
    expect(await queue.list({})).toEqual([]);
  });
});
