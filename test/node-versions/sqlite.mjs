// Runs the specs of the SQLite queue on real binaries of every Node that has node:sqlite: conformance, kills, backup,
// deletion, the files. `npm test` on Node 20 runs them with libsql.
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { onEachNode, run } from './install-node.mjs';

/** The first one with node:sqlite, and the newest of each major version; a change runs them on the newest alone. */
const VERSIONS = process.env.SQLITE_NODES?.split(' ') ?? ['22.13.0', '22', '24', '26'];

/** Kills on each version; `npm run test:crash` has 200. */
const KILLS = '50';

const versions = process.argv.length > 2 ? process.argv.slice(2) : VERSIONS;
const root = fileURLToPath(new URL('../..', import.meta.url));

const RELAY = 'test/webhook-destination';
const SPECS = [
  `${RELAY}/queue/conformance/embedded-engines`,
  `${RELAY}/queue/sqlite`,
  `${RELAY}/queue/accepted`,
  `${RELAY}/sqlite-queue`,
  `${RELAY}/admin/delet`,
  'test/cli/backup',
  'test/e2e/started-again',
  'test/e2e/upgrades',
];
const RELEASE_SPECS = ['test/crash/', 'test/e2e/crash', `${RELAY}/registry/kill`];

onEachNode(versions, (bin) => {
  const env = { CRASH_KILLS: KILLS, ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const test = (...args) =>
    run(join(bin, 'node'), ['node_modules/vitest/vitest.mjs', 'run', ...args], { cwd: root, env });
  run(join(bin, 'node'), ['-p', '`SQLite ${process.versions.sqlite} of Node ${process.version}`'], { env });
  test(...SPECS);
  test('-c', 'vitest.release.config.mjs', ...RELEASE_SPECS);
});
