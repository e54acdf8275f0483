// Builds the package twice, as ES modules and as CommonJS: which one is loaded is the consumer's choice. The client of
// both is also a package of its own, and is compiled for older versions of Node.
// With --if-changed only where something of it has changed since: several scripts in a row need the same build.
// With --watch it then builds the dashboard and the portal again after each change, until it is stopped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { writeClientPackage } from './client-package.mjs';
import { removeInnerDeclarations } from './declarations.mjs';
import { watchApplications, writeApplications } from './dashboard.source.mjs';
import { writeWorkerSource } from './worker.source.mjs';

const root = new URL('..', import.meta.url);
const CONFIGS = ['tsconfig.esm.json', 'tsconfig.cjs.json'];
const CLIENT_CONFIG = 'tsconfig.client.json';
/** Writes the code again without comments, which are a quarter of it; the declarations keep theirs. */
const WITHOUT_COMMENTS = ['--removeComments', '--declaration', 'false', '--stripInternal', 'false', '--noCheck'];
const COMMON_JS = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--outDir', 'dist/cjs'];
/** Written last, so that a build that was cut short is none, with the time of its begin: what changes meanwhile is not in it. */
const stamp = new URL('dist/cjs/package.json', root);

function isUpToDate() {
  const builtAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const files = [
    'tsconfig.json',
    ...CONFIGS,
    CLIENT_CONFIG,
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/client-package.mjs',
    'scripts/dashboard.source.mjs',
    'scripts/declarations.mjs',
    'scripts/worker.source.mjs',
  ];
  // A folder changes where a file of it is removed.
  const below = ['lib', 'dashboard', 'portal'].flatMap((folder) => [
    folder,
    ...readdirSync(new URL(folder, root), { recursive: true }).map((path) => `${folder}/${path}`),
  ]);
  return [...files, ...below].every((path) => statSync(new URL(path, root)).mtimeMs < builtAt);
}

async function compile(config, ...options) {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const [status] = await once(
    spawn(process.execPath, [tsc, '-p', config, ...options], { cwd: fileURLToPath(root), stdio: 'inherit' }),
    'exit',
  );
  return status;
}

if (!process.argv.includes('--if-changed') || !isUpToDate()) {
  const begin = new Date();
  rmSync(new URL('dist', root), { recursive: true, force: true });
  const statuses = await Promise.all(CONFIGS.map((config) => compile(config)));
  statuses.push(...(await Promise.all(CONFIGS.map((config) => compile(config, ...WITHOUT_COMMENTS)))));
  // Last, because each build above has the client as well.
  statuses.push(...(await Promise.all([compile(CLIENT_CONFIG), compile(CLIENT_CONFIG, ...COMMON_JS)])));
  const failed = statuses.find((status) => status !== 0);
  if (failed !== undefined) process.exit(failed ?? 1);
  await Promise.all([writeWorkerSource(root), writeApplications(root)]);
  removeInnerDeclarations(root);
  writeClientPackage(root);
  writeFileSync(stamp, '{ "type": "commonjs" }\n');
  utimesSync(stamp, begin, begin);
}

if (process.argv.includes('--watch')) await watchApplications(root);
