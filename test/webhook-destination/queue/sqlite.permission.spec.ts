import { fork } from 'node:child_process';
import { once } from 'node:events';
import { isBuiltin } from 'node:module';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Node 20 has another flag, and libsql is native code, which the permission model refuses. */
(isBuiltin('node:sqlite') ? describe : describe.skip)("Under Node's permission model", () => {
  const cleanUp = useCleanUps();

  it('the SQLite queue opens, takes a delivery, and removes every trace of it, without a warning', async () => {
    const { path } = await temporaryFolder(cleanUp);
    const folders = [
      `--allow-fs-read=${process.cwd()}`,
      `--allow-fs-read=${path('.')}`,
      `--allow-fs-write=${path('.')}`,
    ];
    const child = fork('test/apps/purging-queue.app.mjs', [path('data/relay.db')], {
      execArgv: ['--permission', '--allow-worker', ...folders],
      silent: true,
    });
    cleanUp(() => child.kill('SIGKILL'));
    let errors = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
    expect(await once(child, 'close'), errors).toEqual([0, null]);
    expect(errors).not.toMatch('SQLite'); // Node 22 warns that it is experimental
  });
});
