// Runs what a release must pass beyond `npm test`, and writes digests of what each part depends on to release.passed.json,
// which belongs to the commit. With names, only these parts. With --changed, as .ci/run has it, only parts whose digest is
// another, in a shorter form.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { chdir } from 'node:process';
import { fileURLToPath } from 'node:url';

const PASSED = 'test/release.passed.json';

/** What all parts depend on. */
const COMMON = ['package.json', 'package-lock.json', 'scripts/build.mjs', 'test/support', 'tsconfig*.json', 'vitest.*'];
const QUEUE = ['lib/stores', 'lib/webhook-destination/queue'];

/** Each part by its script, with what else it depends on, as patterns of Git: an asterisk is any path. */
const PARTS = {
  'test:node-versions': [
    'lib/client',
    'lib/stores/sqlite',
    'lib/webhook-destination/transport',
    'scripts/client-package.mjs',
    'test/node-versions',
  ],
  'test:nest11': ['compat/nest11', 'lib/analytics', 'lib/terminus', 'lib/webhook-destination/http', 'test/analytics'],
  'test:orms': [...QUEUE, 'compat/orms', 'lib/analytics', 'lib/webhook-destination/ingest', 'test/apps/transactions*'],
  'test:packed': [
    'README.md',
    'bin',
    'docs/getting-started.md',
    'docs/testing.md',
    'lib/*index.ts',
    'lib/schematics',
    'schematics',
    'test/node-versions/install-node.mjs',
    'test/packed',
  ],
  'test:bundled': ['lib/*index.ts', 'lib/*.cts', 'lib/*.loader.ts', 'test/bundled'],
  'test:fuzz': ['lib/webhook-destination/http', 'lib/webhook-destination/ingest', 'test/fuzz'],
  'test:memory': ['lib/webhook-destination/http', 'lib/webhook-destination/ingest', 'test/*memory.release.spec.ts'],
  'test:planted': [...QUEUE, 'lib/client', 'lib/webhook-destination', 'test/simulation'],
  'test:samples': ['sample', 'test/samples'],
  'test:cluster': [...QUEUE, 'lib/webhook-destination/registry', 'test/cluster', 'test/crash'],
  'test:crash': [
    ...QUEUE,
    'lib/webhook-destination/dispatch',
    'lib/webhook-destination/registry',
    'test/crash',
    'test/*crash.release.spec.ts',
    'test/*kill.release.spec.ts',
  ],
};

const isShorter = process.argv.includes('--changed');

/** The oldest and the newest Node; of pnpm and Yarn one major of Nest each. */
const SHORTER = {
  'test:packed': ['Nest 11, Node 20', 'Nest 12, Node 26', 'Nest 12, pnpm', 'Nest 11, yarn', 'nest add', 'versions'],
};
const env = isShorter ? { CRASH_KILLS: '50', CLUSTER_MESSAGES: '10000', SQLITE_NODES: '26' } : {};
const names = process.argv.slice(2).filter((name) => !name.startsWith('--'));

chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Of the files of a part, with their names. */
function digest(patterns) {
  const hash = createHash('sha256');
  const files = execFileSync('git', ['ls-files', '-z', '--', ...COMMON, ...patterns], { encoding: 'utf8' });
  for (const file of files.split('\0').filter(Boolean)) hash.update(file).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

const passed = JSON.parse(readFileSync(PASSED, 'utf8'));
for (const [script, patterns] of Object.entries(PARTS)) {
  if (names.length > 0 && !names.includes(script)) continue;
  const now = digest(patterns);
  if (isShorter && passed[script] === now) {
    console.log(`${script}: nothing has changed since it passed`);
    continue;
  }
  console.log(`\n== ${script}`);
  const args = isShorter ? (SHORTER[script] ?? []) : [];
  const options = { stdio: 'inherit', env: { ...process.env, ...env } };
  const { status } = spawnSync('npm', ['run', script, '--', ...args], options);
  if (status !== 0) process.exit(1);
  if (isShorter) continue;
  passed[script] = now;
  writeFileSync(PASSED, `${JSON.stringify(passed, undefined, 2)}\n`);
}
