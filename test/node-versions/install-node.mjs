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

/** Installs a version's real `node`, which the npm package of that name ships, below a folder; returns the binary's folder. */
export function installNode(version, folder) {
  const prefix = join(folder, String(version));
  const flags = ['--silent', '--no-save', '--no-audit', '--no-fund'];
  run('npm', ['install', ...flags, '--prefix', prefix, `node@${version}`]);
  return join(prefix, 'node_modules', 'node', 'bin');
}

/** Calls `act` with the folder of each version's `node`. */
export function onEachNode(versions, act) {
  const folder = mkdtempSync(join(tmpdir(), 'node-versions-'));
  try {
    for (const version of versions) act(installNode(version, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
