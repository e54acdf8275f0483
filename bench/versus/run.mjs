// npm run bench:versus: installs what is compared, packs this build beside it, compiles the bench, and runs it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

function run(command, args, output = 'inherit') {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', output, 'inherit'] });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `bench:versus needs Node 22.18 or later, as graphile-worker does; this is Node ${process.versions.node}`,
  );
  process.exit(1);
}

run('npm', ['ci', '--prefix', here, '--no-audit', '--no-fund', '--loglevel=error']);
const packed = mkdtempSync(join(tmpdir(), 'bench-versus-'));
run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', packed], 'ignore');
const relay = join(here, 'node_modules/nestjs-analytics-relay');
mkdirSync(relay);
run('tar', ['-xzf', join(packed, readdirSync(packed)[0]), '-C', relay, '--strip-components=1']);
rmSync(packed, { recursive: true });
run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', here]);
run(process.execPath, [join(here, 'dist/versus/versus.js'), ...process.argv.slice(2)]);
