import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a command; throws unless it succeeds. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}

/** Calls `act` with the folder of each version's real `node`, which the npm package of that name ships. */
export function onEachNode(versions, act) {
  const folder = mkdtempSync(join(tmpdir(), 'node-versions-'));
  try {
    for (const version of versions) {
      const prefix = join(folder, version);
      run('npm', [
        'install',
        '--silent',
        '--no-save',
        '--no-audit',
        '--no-fund',
        '--prefix',
        prefix,
        `node@${version}`,
      ]);
      act(join(prefix, 'node_modules', 'node', 'bin'));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
