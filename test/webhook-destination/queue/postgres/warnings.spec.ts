import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';

import { Logger } from '@nestjs/common';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { openQueue } from '../../../support/open-queue.js';
import { freePort } from '../../../support/own-services.js';
import { describeOnEach, POSTGRES_URL, postgresStore } from '../../../support/services.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { waitFor } from '../../../support/wait-for.js';

const warnings: string[] = [];
vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void warnings.push(String(line)));
afterEach(() => void warnings.splice(0));

const hasPgbouncer = isInstalled('pgbouncer');
if (!hasPgbouncer) {
  const line = 'pgbouncer is not installed';
  if (process.env.CI) throw new Error(`${line}, and CI must not pass without it`);
  process.stderr.write(`Tests skipped: ${line}\n`);
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

await describeOnEach([postgresStore], (store) => {
  describe('At start, a queue on PostgreSQL', () => {
    const afterwards = useCleanUps();
    const open = async (connection: string) => {
      const { options, remove } = store.create();
      afterwards(remove);
      await openQueue(afterwards, sharedQueue({ ...options, connection }));
    };

    it('warns of nothing where all is well', async () => {
      await open(POSTGRES_URL);
      expect(warnings).toEqual([]);
    });

    it('warns of synchronous_commit off', async () => {
      await open(`${POSTGRES_URL}?options=${encodeURIComponent('-c synchronous_commit=off')}`);
      expect(warnings).toEqual([expect.stringContaining("PostgreSQL's synchronous_commit is off")]);
    });

    (hasPgbouncer ? it : it.skip).each([
      ['transaction', ['A pooler drops the startup parameter "options"', 'A pooler in transaction mode is between']],
      ['session', ['A pooler drops the startup parameter "options"']],
    ])('warns of a pooler in %s mode that drops the settings', async (mode, expected) => {
      await open(await startPgbouncer(mode));
      expect(warnings).toEqual(expected.map((text) => expect.stringContaining(text) as unknown));
    });

    /** Starts a PgBouncer before PostgreSQL; resolves with its URL. */
    async function startPgbouncer(mode: string): Promise<string> {
      const { hostname, port, pathname } = new URL(POSTGRES_URL);
      const folder = await temporaryFolder(afterwards);
      mkdirSync(folder.path(''), { recursive: true });
      chmodSync(folder.path(''), 0o755);
      const ownPort = await freePort();
      const name = pathname.slice(1);
      const settings = [
        '[databases]',
        `${name} = host=${hostname} port=${port} dbname=${name} user=postgres`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${ownPort}`,
        'unix_socket_dir =',
        'auth_type = any',
        `pool_mode = ${mode}`,
        'ignore_startup_parameters = options,extra_float_digits',
      ];
      writeFileSync(folder.path('pgbouncer.ini'), `${settings.join('\n')}\n`);
      const isRoot = process.getuid?.() === 0;
      const uid = isRoot ? Number(execFileSync('id', ['-u', 'postgres']).toString()) : undefined;
      const child: ChildProcess = spawn('pgbouncer', [folder.path('pgbouncer.ini')], { uid, stdio: 'ignore' });
      afterwards(async () => {
        child.kill('SIGKILL');
        if (child.exitCode === null) await once(child, 'exit');
      });
      const url = `postgres://postgres@127.0.0.1:${ownPort}/${name}`;
      await waitFor(async () => {
        const client = new pg.Client(url);
        client.on('error', () => undefined);
        return client.connect().then(
          () => client.end().then(() => true),
          () => false,
        );
      });
      return url;
    }
  });
});
