// Packs the package as it is published, puts it into a registry of its own, and does what README and the other pages say in
// fresh applications of the Nest 11 and Nest 12 command lines. With npm, on each Node: docs/getting-started.md, the tests of
// docs/testing.md, every `npm install` that a page names, and README's quick start, which reaches its webhook and opens the
// dashboard. With pnpm and Yarn, the quick start, and other packages beside it. The application's tests and build pass, with
// Jest (Nest 11) and Vitest (Nest 12). What else `nest add` does is checked in applications of its own.
// With words as arguments, only the checks whose name has one of them: npm run test:packed -- 'Nest 11, Node 26'
import assert from 'node:assert';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { installNode } from '../node-versions/install-node.mjs';
import { documented } from './documented.mjs';
import { createAsDocumented, gettingStarted } from './getting-started.mjs';
import { nestAdd } from './nest-add.mjs';
import { checkVersions } from './peer-versions.mjs';
import { installPackageManagers, packageManagers, translate } from './package-managers.mjs';
import { PORTS, quickStart } from './quick-start.mjs';
import { registrySettings, serveRegistry } from './registry.mjs';
import { freePort, run } from './shell.mjs';

/** The first one has no `node:sqlite`: its applications get libsql. */
const NODES = [20, 22, 26];

/** Checks that run at once, because they wait for the network and the disk. The first one has the ports of the documents. */
const LANES = 2;

/** CPU time from `nest new` to the webhook in the dashboard, in ms: other checks share the cores. */
const QUICK_START_WITHIN = 180_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const added = fileURLToPath(new URL('added', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'relay-packed-'));
const words = process.argv.slice(2);

/** Runs tasks, a few at once and in this order; each gets the ports of its lane. */
async function runAll(tasks, ports = []) {
  const left = [...tasks];
  const lane = async (own) => {
    for (let task = left.shift(); task; task = left.shift()) await task(own);
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(ports[index])));
}

/** Packs a package as it is published. */
async function pack(cwd) {
  const [packed] = JSON.parse(await run(`npm pack --json --silent --pack-destination ${folder}`, { cwd }));
  const manifest = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
  return { packed, manifest, tarball: join(folder, packed.filename) };
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

/** What the pages say, on one Node, in an application that the Nest command line has made on it; README in a copy. */
async function firstHour({ nest, node, env, ports, title }) {
  const transcript = [];
  const print = (text) => transcript.push(text);
  const usage = { cpu: 0 };
  const cwd = join(folder, `node-${node}-nest-${nest}`);
  mkdirSync(cwd);
  const version = (await run('node --version', { cwd, env })).trim();
  assert.ok(version.startsWith(`v${node}.`), `${version} runs in place of Node ${node}`);
  const app = await createAsDocumented({ cwd, nest, env, usage, print });
  const generated = await run('npm install', { cwd: app, env });
  await check({ nest, command: `# on Node ${version}`, path: app, usage }, 'npm', { env, ports, title });
  try {
    await gettingStarted({ app, env, ports, print });
    await documented({ app, env, generated, print });
  } finally {
    console.log(`\n== ${title}, pages\n${transcript.join('\n')}`);
  }
}

/** README in one application; with pnpm and Yarn, also what an application may have beside. */
async function check({ nest, command, path, usage: { ...usage } }, manager, { env, ports, title }) {
  const transcript = [`$ ${command}`];
  const print = (text) => transcript.push(text);
  const app = join(folder, title.replace(/\W+/g, '-'));
  const script = async (line) => {
    const output = await run(line, { cwd: app, env, usage });
    print(`$ ${line}\n${output.trimEnd()}`);
    return output;
  };
  try {
    cpSync(path, app, { recursive: true, verbatimSymlinks: true });
    packageManagers[manager].setUp(app);
    await script(`${manager} install`);
    const delay = await quickStart({ app, manager, env, ports, print, usage });
    const { cpu } = usage;
    assert.ok(cpu < QUICK_START_WITHIN, `the quick start took ${cpu} ms of CPU time`);
    if (manager !== 'npm') await useOthers({ app, nest, manager, script });
    const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
    print(`# nest new to the dashboard: ${seconds(cpu)} of CPU time; curl to webhook: ${seconds(delay)}`);
  } finally {
    console.log(`\n== ${title}\n${transcript.join('\n')}`);
  }
}

/** In an application that has the package: what README does not show, which is the same on each Node. */
async function useOthers({ app, nest, manager, script }) {
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
}

/** `nest add`, and its transcript. */
async function add({ nest, path }, node, env) {
  const transcript = [];
  try {
    await nestAdd({
      ...{ nest, node, path, env },
      app: join(folder, `added-${nest}`),
      print: (text) => transcript.push(text),
    });
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
  const packages = [await pack(root), await pack(join(root, 'client-package'))]; // the first one builds both
  const [{ tarball }] = packages;
  const upstream = (await run('npm config get registry', { cwd: folder })).trim().split('\n').at(-1);
  registry = await serveRegistry({ packages, upstream });
  const ports = [];
  for (const [application, receiver] of [Object.values(PORTS), [0, 0]]) {
    ports.push({ application: await freePort(application), receiver: await freePort(receiver) });
  }
  console.log(`Ports ${JSON.stringify(PORTS)} of the pages, or in their place: ${JSON.stringify(ports)}`);

  const applications = {};
  let commands = '';
  await runAll([
    async () => (applications[11] = await createApplication(11)),
    async () => (applications[12] = await createApplication(12)),
    async () => (commands = await installPackageManagers(managers)),
  ]);
  const env = { PATH: `${commands}:${process.env.PATH}`, ...registrySettings(registry.url) };
  const bins = {};
  const onNode = (node) => ({ ...env, PATH: `${bins[node]}:${env.PATH}` });

  const checks = NODES.flatMap((node) =>
    [11, 12].map((nest) => ({
      name: `Nest ${nest}, Node ${node}`,
      act: (title, own) => firstHour({ nest, node, env: onNode(node), ports: own, title }),
    })),
  );
  for (const manager of ['pnpm', 'yarn']) {
    for (const nest of [11, 12]) {
      const act = (title, own) => check(applications[nest], manager, { env, ports: own, title });
      checks.push({ name: `Nest ${nest}, ${manager}`, act });
    }
  }
  for (const [nest, node] of [
    [11, 20],
    [12, 22],
  ]) {
    checks.push({ name: `Nest ${nest}, nest add`, act: () => add(applications[nest], node, onNode(node)) });
  }
  checks.push({ name: 'versions of optional packages', act: () => checkVersions(join(folder, 'versions'), tarball) });
  const chosen = checks.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  for (const node of NODES) bins[node] = installNode(node, join(folder, 'nodes'));
  await runAll(
    chosen.map(({ name, act }) => async (own) => {
      try {
        await act(name, own);
        console.log(`passed: ${name}`);
      } catch (error) {
        console.error(`FAILED: ${name}: ${error.message}`);
        process.exitCode = 1;
      }
    }),
    ports,
  );
} finally {
  await registry?.close();
  rmSync(folder, { recursive: true, force: true });
}
