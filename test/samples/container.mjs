// Does what sample/08-container/Dockerfile does, without Docker: installs the context with its command, and runs its
// process as another user and, where Linux lets it, as process 1 with a read-only root file system beside a volume.
import assert from 'node:assert';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const NODE_USER = 1000; // of the official images
const dockerfile = readFileSync('sample/08-container/Dockerfile', 'utf8');
const command = (instruction) => JSON.parse(new RegExp(`${instruction} (\\[.*\\])`).exec(dockerfile)[1]);
const [, install] = /^RUN (npm .*)$/m.exec(dockerfile);
const [, variables] = /^ENV (.*)$/m.exec(dockerfile);

const [, image] = /docker build -t (\S+) context/.exec(readFileSync('sample/08-container/README.md', 'utf8'));
for (const file of ['docs/production.md', 'sample/08-container/compose.yaml']) {
  const [, used] = / image: (\w+:\S+)/.exec(readFileSync(file, 'utf8'));
  assert.strictEqual(used, image, `${file} has another image than README.md builds`);
}

const folder = mkdtempSync(join(tmpdir(), 'relay-container-'));
const [app, data] = [join(folder, 'app'), join(folder, 'data')];
const isRoot = process.getuid() === 0;
const isolated = ['--mount', '--pid', '--fork', '--kill-child'];
const canIsolate = isRoot && spawnSync('unshare', [...isolated, 'mount', '-o', 'remount,ro,bind', '/']).status === 0;
const asUser = ['setpriv', `--reuid=${NODE_USER}`, `--regid=${NODE_USER}`, '--clear-groups', '--no-new-privs'];
const asNode = [...asUser, '--pdeathsig=keep']; // the process ends with the test, if that fails

/** The environment of the image, with the volume at `data`. */
function environment(more) {
  const ofImage = variables.replaceAll('/data', data).split(' ');
  return { PATH: process.env.PATH, ...Object.fromEntries(ofImage.map((one) => one.split('='))), ...more };
}

/** The process of the container, as process 1 if possible; `stop` is `docker stop`. */
function start(env) {
  const [program, ...args] = command('\nCMD');
  const mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind / && exec "$@"';
  const inContainer = ['unshare', ...isolated, 'sh', '-c', mount, data, ...asNode, program, ...args];
  const [first, ...rest] = canIsolate ? inContainer : isRoot ? [...asNode, program, ...args] : [program, ...args];
  const child = spawn(first, rest, { cwd: app, env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.pipe(process.stderr); // if that is a file, the limit of a file's size must not apply to it
  const ended = once(child, 'exit');
  const pid = () =>
    canIsolate ? Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')) : child.pid;
  return { child, ended, pid, stop: () => process.kill(pid(), 'SIGTERM') };
}

async function isHealthy(env) {
  const [program, ...args] = command('HEALTHCHECK .* CMD');
  const [code] = await once(spawn(program, args, { cwd: app, env }), 'exit');
  return code === 0;
}

/** Past the limit of a file's size a write fails, as it does on a full disk. */
function limitFiles(bytes) {
  const [program, ...args] = [...(isRoot ? asUser : []), 'prlimit', '--pid', String(container.pid())];
  execFileSync(program, [...args, `--fsize=${bytes}:unlimited`]);
}

async function statusOf(port, path) {
  return (await globalThis.fetch(`http://127.0.0.1:${port}${path}`)).status;
}

async function until(condition, what) {
  const end = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Timed out after 30 s: ${what}`);
    await wait(50);
  }
}

/** A receiver, which can be out of order. */
async function receive() {
  const received = { events: [], isOutOfOrder: false };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()));
    assert.ok(request.headers['webhook-signature'], 'a webhook without a signature');
    if (!received.isOutOfOrder) received.events.push(body.event);
    response.writeHead(received.isOutOfOrder ? 503 : 204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { received, server, url: `http://127.0.0.1:${server.address().port}` };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return String(port);
}

async function post(port, event) {
  const { status } = await globalThis.fetch(`http://127.0.0.1:${port}/v1/track`, {
    method: 'POST',
    headers: { Authorization: `Basic ${globalThis.btoa('wk_shop:')}` },
    body: JSON.stringify({ userId: 'u1', event }),
  });
  assert.strictEqual(status, 200);
}

let container;
const { received, server, url } = await receive();
try {
  execFileSync('npm', ['run', 'context', '-w', 'sample/08-container', '--silent'], { stdio: 'inherit' });
  cpSync('sample/08-container/context', app, { recursive: true });
  execFileSync(install, { cwd: app, shell: true, stdio: 'ignore' });
  // The image has a version of Node with SQLite; this one may have none.
  if (!isBuiltin('node:sqlite')) execFileSync('npm', ['install', '--no-save', 'libsql@0.5'], { cwd: app });
  execFileSync('chmod', ['-R', 'a+rX,a-w', app]);
  mkdirSync(data);
  if (isRoot) chownSync(data, NODE_USER, NODE_USER);
  execFileSync('chmod', ['a+x', folder]);

  const PORT = await freePort();
  const settings = { WRITE_KEY: 'wk_shop', WEBHOOK_URL: url, WEBHOOK_SECRET: 'a secret of both sides, long enough' };
  const env = environment({ ...settings, PORT, ALLOWED_NETWORKS: 'localhost' });
  container = start(env);
  await until(() => isHealthy(env), 'the health check');
  if (canIsolate) {
    const status = readFileSync(`/proc/${container.pid()}/status`, 'utf8');
    assert.match(status, /^NSpid:\s+\d+\s+1$/m);
    assert.match(status, new RegExp(`^Uid:\\s+${NODE_USER}\\s`, 'm'));
    assert.match(readFileSync(`/proc/${container.pid()}/mounts`, 'utf8'), /^\S+ \/ \S+ ro,/m);
  }
  await post(PORT, 'Order Completed');
  await until(() => received.events.includes('Order Completed'), 'the webhook');

  limitFiles('1');
  await until(async () => !(await isHealthy(env)), 'a health check that fails while the disk is full');
  assert.strictEqual(await statusOf(PORT, '/health/live'), 200, 'a full disk would restart the process');
  limitFiles('unlimited');
  await until(() => isHealthy(env), 'the health check once there is room');

  received.isOutOfOrder = true;
  await post(PORT, 'Order Refunded');

  const stoppedAt = Date.now();
  container.stop();
  assert.deepStrictEqual(await container.ended, [0, null]);
  assert.ok(Date.now() - stoppedAt < 20_000, 'the process outlived stop_grace_period');
  assert.strictEqual(await isHealthy(env), false);

  received.isOutOfOrder = false;
  container = start(env); // a new container on the volume
  await until(() => received.events.includes('Order Refunded'), 'the webhook after the restart');
  container.stop();
  assert.deepStrictEqual(await container.ended, [0, null]);
  console.log(`passed: sample/08-container${canIsolate ? '' : ', without isolation'}`);
} finally {
  container?.child.kill('SIGKILL');
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
