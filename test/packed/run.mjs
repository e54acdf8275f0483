// Packs the package as it is published, installs it in applications outside the repository, and runs there: the build,
// the quick start, the plan, and a test under their own Jest.
import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const apps = fileURLToPath(new URL('apps', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'relay-packed-'));

function npm(cwd, ...args) {
  try {
    return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`npm ${args.join(' ')} in ${cwd}:\n${error.stdout}\n${error.stderr}`, { cause: error });
  }
}

try {
  const [{ filename }] = JSON.parse(npm(root, 'pack', '--json', '--silent', '--pack-destination', folder));
  for (const name of readdirSync(apps)) {
    const app = join(folder, name);
    cpSync(join(apps, name), app, { recursive: true });
    npm(app, 'install', '--no-audit', '--no-fund', join(folder, filename));
    npm(app, 'run', 'build');
    assert.match(npm(app, 'start', '--silent'), /^signed: true, Order Completed {"orderId":"o-1","revenue":42}\n$/);
    assert.match(npm(app, 'run', '--silent', 'plan'), /\| `orderId` \| string \| yes /);
    npm(app, 'test');
    console.log(`passed: ${name}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
