import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';

import { type NewDelivery, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

interface Answer {
  command: string;
  argument?: string;
  result?: unknown;
  error?: string;
}

const message = (messageId: string, fields: Partial<NewDelivery> = {}): NewDelivery => ({
  destination: 'W',
  source: 's',
  messageId,
  userId: undefined,
  body: Buffer.from('{}'),
  acceptedAt: 1,
  ...fields,
});

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
    const folder = await temporaryFolder(afterwards);
    return folder.path('relay.db');
  }

  async function open() {
    const path = await createPath();
    const queue = await openQueue(afterwards, sqliteQueue({ path }));
    return { path, queue };
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
      `SQLite queue ${path}: it is already open; each process needs its own file or a shared queue`,
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
    await ask('add', 'before beside'); // one batch
    await heard('lease', 'before');
    const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);

    limit(String(statSync(`${path}-wal`).size));
    expect((await ask('add', 'refused')).error).toMatch(/^SQLite queue .*: (database or disk is full|disk I\/O error)/);
    const settled = ask('settle', 'before');
    expect((await ask('add', 'refused')).error).toMatch(/^SQLite queue/);
    expect((await ask('list')).result).toEqual(['beside delivering', 'before delivering']);

    limit('unlimited');
    expect((await settled).result).toBe(true);
    expect((await ask('add', 'after')).error).toBeUndefined();
    await heard('lease', 'after');
    expect((await ask('list')).result).toEqual(['after delivering', 'beside delivering', 'before delivered']);
  });

  it('lets its process exit at any moment, with the code that it exits with', async () => {
    for (let round = 0; round < 4; round++) {
      const child = fork('test/apps/exiting-queue.app.mjs', [await createPath()]);
      expect(await once(child, 'exit')).toEqual([7, null]);
    }
  });

  it('refuses what cannot cross to its thread, and that alone', async () => {
    const { queue } = await open();
    const bad = message('bad', { source: (() => 1) as never });
    const added = Array.from({ length: 11 }, (_, index) => queue.add([message(`m${index}`)]));
    await expect(queue.add([bad])).rejects.toThrow(/^SQLite queue .*could not be cloned/);
    await Promise.all(added);
    await expect(queue.add([bad])).rejects.toThrow('could not be cloned');
    expect(await queue.list({})).toHaveLength(11);
  });

  it('ends every one of many calls at once, keeps what it took, and has nothing pending in the end', async () => {
    const { path, queue } = await open();
    const taken: string[] = [];
    const refused: string[] = [];
    const add = (messageId: string, fields?: Partial<NewDelivery>) =>
      queue.add([message(messageId, fields)]).then(
        () => taken.push(messageId),
        () => refused.push(messageId),
      );
    const calls: Promise<unknown>[] = [];
    for (let index = 0; index < 200; index++) {
      calls.push(add(`m${index}`));
      if (index % 40 === 5) calls.push(expect(queue.list({ userId: (() => 1) as never })).rejects.toThrow('userId'));
      if (index % 40 === 25) calls.push(add(`bad${index}`, { source: (() => 1) as never }));
      if (index === 120) calls.push(queue.close());
      if (index % 30 === 29) await new Promise(setImmediate);
    }
    await Promise.all(calls);
    expect(taken.length).toBeGreaterThan(0);
    expect(taken.length + refused.length).toBe(205);
    expect(
      (queue as unknown as { store: { thread: { pending: Map<number, unknown> } } }).store.thread.pending.size,
    ).toBe(0);
    const again = await openQueue(afterwards, sqliteQueue({ path }));
    const kept = (await again.list({}, { limit: 1_000 })).map(({ messageId }) => messageId);
    expect(kept.sort()).toEqual(taken.sort());
  });
});
