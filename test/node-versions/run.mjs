// Runs the smoke suite on real binaries of every supported Node version, which the npm package `node` ships.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['14', '16', '18', '20', '22', '24'];
const smoke = fileURLToPath(new URL('smoke.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'node-versions-'));

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}

try {
  for (const version of versions) {
    const prefix = join(folder, version);
    run('npm', ['install', '--silent', '--no-save', '--no-audit', '--no-fund', '--prefix', prefix, `node@${version}`]);
    run(join(prefix, 'node_modules', 'node', 'bin', 'node'), [smoke]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
