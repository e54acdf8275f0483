// Packs the package as it is published, puts it into a registry of its own, and types what README says in fresh
// applications of the Nest 11 and Nest 12 command lines, with each package manager. In each, README's quick start reaches
// its webhook and opens the dashboard, and the application's tests and build pass, with Jest (Nest 11) and Vitest
// (Nest 12). What else `nest add` does is checked in applications of its own, as are the tests of docs/testing.md.
// With words as arguments, only the checks whose name has one of them: npm run test:packed -- 'Nest 11, npm'
import assert from 'node:assert';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { nestAdd } from './nest-add.mjs';
import { checkVersions } from './peer-versions.mjs';
import { installPackageManagers, packageManagers, translate } from './package-managers.mjs';
import { quickStart, README_PORT } from './quick-start.mjs';
import { registrySettings, serveRegistry } from './registry.mjs';
import { freePort, run } from './shell.mjs';

/** How many checks run at once: they wait for the network, the disk and each other's port. */
const LANES = 2;

/** CPU time from `nest new` to the webhook in the dashboard, in ms: other checks share the cores. */
const QUICK_START_WITHIN = 180_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const added = fileURLToPath(new URL('added', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'relay-packed-'));
const words = process.argv.slice(2);

/** Runs tasks, a few at once and in this order. */
async function runAll(tasks) {
  const left = [...tasks];
  const lane = async () => {
    for (let task = left.shift(); task; task = left.shift()) await task();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** An application as `nest new` makes it; its packages are installed by each package manager. */
async function createApplication(nest) {
  const usage = { cpu: 0 };
  const command = `npx --yes @nestjs/cli@${nest} new shop --package-manager npm --skip-git --skip-install`;
  const cwd = join(folder, `nest-${nest}`);
  mkdirSync(cwd);
  await run(command, { cwd, usage });
  return { nest, command, path: join(cwd, 'shop'), usage };
}

/** README in one application, and then what an application may have beside. */
async function check({ nest, command, path, usage: { ...usage } }, manager, { env, port }) {
  const transcript = [`$ ${command}`];
  const print = (text) => transcript.push(text);
  const app = join(folder, `${manager}-${nest}`);
  const script = async (line) => {
    const output = await run(line, { cwd: app, env, usage });
    print(`$ ${line}\n${output.trimEnd()}`);
    return output;
  };
  try {
    cpSync(path, app, { recursive: true });
    packageManagers[manager].setUp(app);
    await script(`${manager} install`);
    const delay = await quickStart({ app, manager, env, port, print, usage });
    const { cpu } = usage;
    assert.ok(cpu < QUICK_START_WITHIN, `the quick start took ${cpu} ms of CPU time`);
    await script(translate('npm install bullmq@5 class-validator @nestjs/schedule', manager));
    addSources(app, nest);
    await script(`${manager} test`);
    await script(`${manager} run build`);
    await script(`node_modules/.bin/tsc --noEmit -p ${nest === 11 ? 'tsconfig.node10.json' : 'tsconfig.json'}`);
    assert.match(
      await script('node dist/checks.js'),
      /intervals: nestjs-analytics-relay:sweep\nbullmqQueue needs bullmq \^6\.7\.0, but 5\.\S+ is installed: npm install bullmq@6\n$/,
    );
    assert.match(await script('node_modules/.bin/nestjs-analytics-relay plan'), /\| `orderId` \| string \| yes /);
    const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
    print(`# nest new to the dashboard: ${seconds(cpu)} of CPU time; curl to webhook: ${seconds(delay)}`);
  } finally {
    console.log(`\n== Nest ${nest}, ${manager}\n${transcript.join('\n')}`);
  }
}

/** `nest add`, and its transcript. */
async function add({ nest, path }, env) {
  const transcript = [];
  try {
    await nestAdd({ nest, path, app: join(folder, `added-${nest}`), env, print: (text) => transcript.push(text) });
  } finally {
    console.log(`\n== Nest ${nest}, nest add\n${transcript.join('\n')}`);
  }
}

/** Adds what README has not. In CommonJS, where the Nest 11 command line sets up Jest, imports have no ending. */
function addSources(app, nest) {
  cpSync(added, app, { recursive: true });
  if (nest !== 11) return;
  for (const name of readdirSync(join(added, 'src'))) {
    const path = join(app, 'src', name);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(from '\.\/.+)\.js'/g, "$1'"));
  }
}

let registry;
try {
  const managers = join(folder, 'package-managers');
  mkdirSync(managers);
  const [packed] = JSON.parse(await run(`npm pack --json --silent --pack-destination ${folder}`, { cwd: root }));
  const tarball = join(folder, packed.filename);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const upstream = (await run('npm config get registry', { cwd: folder })).trim().split('\n').at(-1);
  registry = await serveRegistry({ tarball, packed, manifest, upstream });
  const port = await freePort(README_PORT);
  if (port !== README_PORT) console.log(`Port ${README_PORT} is taken: ${port} is put in its place.`);

  const applications = {};
  let commands = '';
  await runAll([
    async () => (applications[11] = await createApplication(11)),
    async () => (applications[12] = await createApplication(12)),
    async () => (commands = await installPackageManagers(managers)),
  ]);
  const env = { PATH: `${commands}:${process.env.PATH}`, ...registrySettings(registry.url) };

  const checks = Object.keys(packageManagers).flatMap((manager) =>
    [11, 12].map((nest) => ({
      name: `Nest ${nest}, ${manager}`,
      act: () => check(applications[nest], manager, { env, port }),
    })),
  );
  for (const nest of [11, 12]) checks.push({ name: `Nest ${nest}, nest add`, act: () => add(applications[nest], env) });
  checks.push({ name: 'versions of optional packages', act: () => checkVersions(join(folder, 'versions'), tarball) });
  const chosen = checks.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  await runAll(
    chosen.map(({ name, act }) => async () => {
      try {
        await act();
        console.log(`passed: ${name}`);
      } catch (error) {
        console.error(`FAILED: ${name}: ${error.message}`);
        process.exitCode = 1;
      }
    }),
  );
} finally {
  await registry?.close();
  rmSync(folder, { recursive: true, force: true });
}
