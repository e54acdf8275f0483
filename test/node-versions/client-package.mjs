// Installs the client's own package with npm 6 on Node 14, as an old service does, and runs there the smoke suite and
// the README's program; and compiles a program against its types with a TypeScript of the time.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'client-package-'));
const tools = join(folder, 'tools', 'node_modules');
const app = join(folder, 'app');
const node14 = join(tools, 'node', 'bin', 'node');

function run(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Runs the README's program against a service, and returns the events that the service got. */
async function runReadme() {
  const [, program] = /```js\n\/\/ app\.js\n([^]*?)```/.exec(
    readFileSync(join(root, 'client-package', 'README.md'), 'utf8'),
  );
  writeFileSync(join(app, 'app.js'), program);
  const events = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    events.push(...JSON.parse(body).batch.map(({ event }) => event));
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const env = { ...process.env, ANALYTICS_HOST: `http://127.0.0.1:${server.address().port}` };
  const [status] = await once(spawn(node14, ['app.js'], { cwd: app, env, stdio: 'inherit' }), 'exit');
  server.closeAllConnections();
  server.close();
  if (status !== 0) throw new Error(`The program of the README ended with ${status}`);
  return events;
}

try {
  const toolset = ['node@14', 'npm@6', 'typescript@4.7', '@types/node@14'];
  run('npm', [
    'install',
    '--silent',
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--prefix',
    join(folder, 'tools'),
    ...toolset,
  ]);
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: join(root, 'client-package'),
    }),
  );

  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{ "name": "app", "version": "1.0.0", "license": "MIT", "private": true }');
  // The newer npm that runs this script passes settings on that npm 6 does not know.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_config_(?!registry)/i.test(name)),
  );
  const npm6 = join(tools, 'npm', 'bin', 'npm-cli.js');
  const installed = run(node14, [npm6, 'install', '--no-audit', join(folder, filename)], { cwd: app, env });
  if (!/added 1 package/.test(installed)) throw new Error(`npm 6 installed more than the client:\n${installed}`);

  copyFileSync(join(root, 'test', 'node-versions', 'smoke.mjs'), join(app, 'smoke.mjs'));
  process.stdout.write(run(node14, ['smoke.mjs', 'nestjs-analytics-relay-client'], { cwd: app }));
  const events = await runReadme();
  if (events.join() !== 'Order Completed') throw new Error(`The program of the README sent: ${events.join()}`);

  writeFileSync(
    join(app, 'typed.ts'),
    `import { Analytics, type AnalyticsSettings, type Message } from 'nestjs-analytics-relay-client';
const settings: AnalyticsSettings = { writeKey: 'wk' };
export const types = (messages: Message[]) => messages.map(({ type }) => type);
new Analytics(settings).track({ userId: 'u', event: 'E' });\n`,
  );
  const typeRoots = join(tools, '@types');
  const flags = [
    '--noEmit',
    '--strict',
    '--esModuleInterop',
    '--target',
    'es2020',
    '--typeRoots',
    typeRoots,
    '--types',
    'node',
  ];
  for (const module of ['commonjs', 'nodenext']) {
    const resolution = module === 'nodenext' ? 'nodenext' : 'node';
    const args = [...flags, '--module', module, '--moduleResolution', resolution, 'typed.ts'];
    run(node14, [join(tools, 'typescript', 'bin', 'tsc'), ...args], { cwd: app });
  }
  process.stdout.write(
    'nestjs-analytics-relay-client: installed by npm 6 on Node 14, sent, compiled with TypeScript 4.7\n',
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
