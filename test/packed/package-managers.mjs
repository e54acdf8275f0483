import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { run } from './shell.mjs';

/** Those beside npm, by the names under which the registry has them. */
const TOOLS = 'pnpm@12 yarn@npm:@yarnpkg/cli-dist@4';

/** Installs the package managers into a folder; resolves with the folder of their commands. */
export async function installPackageManagers(folder) {
  writeFileSync(join(folder, 'package.json'), '{}');
  await run(`npm install --no-audit --no-fund ${TOOLS}`, { cwd: folder });
  return join(folder, 'node_modules', '.bin');
}

/**
 * How each is set up in an application, and types what README says for npm. None of the settings concerns this package;
 * the exceptions are for packages of the Nest command line that fail by themselves.
 */
export const packageManagers = {
  npm: {
    setUp: () => undefined,
  },

  /** Each package sees its own dependencies only, and a peer that does not fit stops the install. */
  pnpm: {
    setUp(app) {
      const settings = [
        'nodeLinker: isolated',
        'strictPeerDependencies: true',
        'peerDependencyRules:',
        '  allowedVersions:',
        "    'tsconfck>typescript': '6'", // of vite-tsconfig-paths
        'strictDepBuilds: false', // @parcel/watcher, of the Nest CLI, has a script that is not needed
      ];
      writeFileSync(join(app, 'pnpm-workspace.yaml'), settings.join('\n'));
    },
  },

  /** Yarn 4 with a node_modules folder. */
  yarn: {
    setUp(app) {
      writeFileSync(join(app, 'yarn.lock'), '');
      writeFileSync(join(app, '.yarnrc.yml'), 'nodeLinker: node-modules\nenableImmutableInstalls: false\n');
      // Yarn resolves the packages of all platforms. The newest of these lack some in some registries.
      editPackage(app, (manifest) => {
        manifest.resolutions = { 'unrs-resolver': '1.12.2', 'msgpackr-extract': '3.0.4' }; // of Jest, of BullMQ
        // The linters are not run here, and oxlint is one of these as well.
        const linters = Object.keys(manifest.devDependencies).filter((name) => /lint|prettier/.test(name));
        for (const name of linters) delete manifest.devDependencies[name];
      });
    },
  },
};

/** Changes the `package.json` of an application. */
export function editPackage(app, change) {
  const path = join(app, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  change(manifest);
  writeFileSync(path, JSON.stringify(manifest, null, 2));
}

/** A line of README, as it is typed with this package manager. */
export function translate(line, manager) {
  return line.replace(/^npm install (?=\w)/, manager === 'npm' ? '$&' : `${manager} add `).replace(/^p?npm\b/, manager);
}
