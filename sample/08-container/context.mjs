// Writes context/, what the image is built from. An application of your own has these files already, with the package
// from the registry; here it is packed from this repository.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const run = (command, cwd) => execFileSync(command, { cwd: here(cwd), shell: true, encoding: 'utf8' });

rmSync(here('context'), { recursive: true, force: true });
mkdirSync(here('context'));
run('node scripts/build.mjs --if-changed', '../..');
run('npx tsc', '.');
const [{ filename }] = JSON.parse(
  run('npm pack --json --ignore-scripts --pack-destination sample/08-container/context', '../..'),
);
const {
  name,
  version,
  private: isPrivate,
  type,
  dependencies,
} = JSON.parse(readFileSync(here('package.json'), 'utf8'));
dependencies['nestjs-analytics-relay'] = `file:${filename}`;
writeFileSync(here('context/package.json'), JSON.stringify({ name, version, private: isPrivate, type, dependencies }));
cpSync(here('dist'), here('context/dist'), { recursive: true });
cpSync(here('Dockerfile'), here('context/Dockerfile'));
run('npm install --package-lock-only --no-audit --no-fund', 'context');
