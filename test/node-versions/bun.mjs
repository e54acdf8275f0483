// Runs parts of the suite on real binaries of Bun, with its own test runner: all that delivery relies on.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_SUPPORTED = '1.4.0';
const REFUSED = '1.3.14';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bun-versions-'));
const transports = ['transport/transport', 'transport/network.policy'].map((name) => `webhook-destination/${name}`);
const suites = [...transports, 'e2e/crash.release', 'e2e/main-way'];

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { cwd: here('../..'), stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

/** The binary of a version. It is in a package of its own for each platform, from where an install script moves it. */
function install(version) {
  const prefix = join(folder, version);
  run(
    'npm',
    'install',
    '--silent',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefix',
    prefix,
    `bun@${version}`,
  );
  const packages = join(prefix, 'node_modules', '@oven');
  const [name] = readdirSync(packages).sort();
  return join(packages, name, 'bin', process.platform === 'win32' ? 'bun.exe' : 'bun');
}

const test = (bun, names) =>
  // In place of the 5 s that a test may take by default.
  run(bun, 'test', '--timeout', '60000', ...names.map((name) => `./test/${name}.spec.ts`));

try {
  run(install(REFUSED), here('bun.app.mjs'), 'no');
  test(install(OLDEST_SUPPORTED), transports);
  const newest = install('1');
  run(newest, here('smoke.mjs'));
  run(newest, here('bun.app.mjs'), 'yes');
  test(newest, suites);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
