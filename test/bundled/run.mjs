// Packs the package as it is published, installs it in applications outside the repository, bundles them with esbuild
// and with the webpack of the Nest CLI, nothing of ours left out by hand, and has each bundle deliver an event.
import assert from 'node:assert';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'relay-bundled-'));

/** Longest wait for a bundle to deliver or to end, in ms. */
const PATIENCE = 60_000;

// What Nest itself loads only where it is installed.
const NEST_OPTIONAL = ['@nestjs/microservices', '@nestjs/websockets', 'class-transformer'];
const ESBUILD = ['--bundle', '--platform=node', ...NEST_OPTIONAL.map((name) => `--external:${name}`)];

// Express is CommonJS and requires modules of Node, which a bundle of ES modules has no `require` for.
const REQUIRE = `import { createRequire as create } from 'node:module'; const require = create(import.meta.url);`;

/** Each leaves its bundle as `dist/main.*`. What is compiled before, in `compiled/`, requires the package. */
const bundlers = {
  'esbuild, CommonJS': ['esbuild', 'compiled/main.js', ...ESBUILD, '--minify', '--outfile=dist/main.cjs'],
  'esbuild, ES modules': [
    ...['esbuild', 'src/main.ts', ...ESBUILD],
    ...['--format=esm', `--banner:js=${REQUIRE}`, '--outfile=dist/main.mjs'],
  ],
  'nest build --webpack': ['nest', 'build', '--webpack', '--webpackPath', 'webpack.config.cjs'],
};

/** The bundles that also run in a folder of their own: where `__filename` is known, and where it is not. */
const moved = ['nest11, nest build --webpack', 'nest12, esbuild, ES modules'];

function npm(cwd, ...args) {
  try {
    return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`npm ${args.join(' ')} in ${cwd}:\n${error.stdout}\n${error.stderr}`, { cause: error });
  }
}

/** Starts the bundle of a folder, posts an event to it, and says what came of it: a webhook, or an end with an error. */
async function run(app) {
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      response.end();
      receiver.emit('webhook');
    });
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const bundle = readdirSync(join(app, 'dist')).find((name) => name.startsWith('main.'));
  const child = spawn(process.execPath, [join('dist', bundle)], {
    cwd: app,
    env: {
      ...process.env,
      HOOK_URL: `http://127.0.0.1:${receiver.address().port}/hook`,
      QUEUE_FILE: join(mkdtempSync(join(folder, 'data-')), 'relay.db'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  const overdue = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += chunk));
  child.stdout.on('data', (chunk) => {
    const [, url] = /listening on (\S+)/.exec(chunk) ?? [];
    if (url) void post(url);
  });
  try {
    const delivered = once(receiver, 'webhook').then(() => 'delivered');
    return await Promise.race([delivered, exit.then(([code]) => `exit code ${code}: ${errors}`)]);
  } finally {
    child.kill();
    await exit;
    clearTimeout(overdue);
    receiver.close();
  }
}

async function post(url) {
  const headers = { Authorization: `Basic ${Buffer.from('wk_shop:').toString('base64')}` };
  const body = JSON.stringify({ userId: 'u-1', event: 'Order Completed' });
  const { status } = await globalThis.fetch(`${url}/v1/track`, { method: 'POST', headers, body });
  assert.strictEqual(status, 200);
}

/** Copies a bundle to a folder of its own, with these packages of the application. */
function move(app, packages) {
  const target = mkdtempSync(join(folder, 'moved-'));
  cpSync(join(app, 'dist'), join(target, 'dist'), { recursive: true });
  for (const name of packages) {
    cpSync(join(app, 'node_modules', name), join(target, 'node_modules', name), { recursive: true });
  }
  return target;
}

/** Without it, the SQLite queue needs libsql. */
const hasSqlite = isBuiltin('node:sqlite');

const DRIVER = ['libsql', '@neon-rs/load', 'detect-libc'];

/** A bundle is often all that a container image gets. */
async function runMoved(app) {
  if (hasSqlite) {
    assert.strictEqual(await run(move(app, [])), 'delivered');
    return;
  }
  assert.match(
    await run(move(app, [])),
    /^exit code 1: [^]*libsql is not installed, searched from \S+dist\S+ and [^]*run npm install libsql/,
  );
  assert.match(
    await run(move(app, DRIVER)),
    /^exit code 1: [^]*the package @libsql\/\S+, the native code of libsql for this platform, is not installed/,
  );
  assert.strictEqual(await run(move(app, [...DRIVER, '@libsql'])), 'delivered');
}

try {
  const [{ filename }] = JSON.parse(npm(root, 'pack', '--json', '--silent', '--pack-destination', folder));
  for (const version of ['nest11', 'nest12']) {
    const app = join(folder, version);
    cpSync(join(here, 'app'), app, { recursive: true });
    cpSync(join(here, version), app, { recursive: true });
    npm(app, 'install', '--no-audit', '--no-fund', join(folder, filename), ...(hasSqlite ? [] : ['libsql@0.5']));
    npm(app, 'exec', '--', 'tsc', '--outDir', 'compiled');
    for (const [bundler, command] of Object.entries(bundlers)) {
      const name = `${version}, ${bundler}`;
      rmSync(join(app, 'dist'), { recursive: true, force: true });
      npm(app, 'exec', '--', ...command);
      assert.strictEqual(await run(app), 'delivered');
      if (moved.includes(name)) await runMoved(app);
      console.log(`passed: ${name}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
