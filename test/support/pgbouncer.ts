import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';

import pg from 'pg';

import type { Afterwards } from './clean-ups.js';
import { freePort } from './own-services.js';
import { POSTGRES_URL } from './services.js';
import { temporaryFolder } from './temporary-folder.js';
import { waitFor } from './wait-for.js';

export const hasPgbouncer = isInstalled('pgbouncer');
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

/** Starts a PgBouncer before PostgreSQL; resolves with its URL. */
export async function startPgbouncer(afterwards: Afterwards, mode: string): Promise<string> {
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
