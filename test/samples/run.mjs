// Runs each sample with the command of its README, and looks for what that promises.
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';

/** Runs a command from the root of the repository; `act` is called with each new output. */
function run(command, { env = {}, act } = {}) {
  return new Promise((resolve, reject) => {
    const [program, ...args] = command.split(' ');
    // A group of its own, as npm and a shell stand between the command and the application.
    const child = spawn(program, args, { env: { ...process.env, ...env, NO_COLOR: '1' }, detached: true });
    const stop = (signal) => process.kill(-child.pid, signal);
    let output = '';
    const timer = setTimeout(() => {
      stop('SIGKILL');
      reject(new Error(`${command} did not end within 2 minutes:\n${output}`));
    }, 120_000);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        act?.(output, stop);
      });
    }
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

async function prints(command, env, ...lines) {
  const { code, output } = await run(command, { env });
  for (const line of lines) assert.match(output, line);
  assert.strictEqual(code, 0, output);
  console.log(`passed: ${command}`);
}

/** Starts the shop, takes each step once the output has its text, and resolves with all output. */
async function runShop(env, steps) {
  const { output } = await run('npm start', {
    env,
    act: (text, stop) => {
      if (steps.length > 0 && text.includes(steps[0][0])) void steps.shift()[1](stop, text);
    },
  });
  return output;
}

async function shop() {
  const folder = mkdtempSync(join(tmpdir(), 'relay-sample-'));
  const [PORT, RECEIVER_PORT] = [await freePort(), await freePort()];
  const env = { PORT, RECEIVER_PORT, DATABASE_PATH: join(folder, 'relay.db') };
  const welcome = 'Ctrl-C delivers queued events and stops.';
  const order = async (product) => {
    const body = JSON.stringify({ userId: 'u1', product, price: 4.5 });
    const headers = { 'Content-Type': 'application/json' };
    const response = await globalThis.fetch(`http://localhost:${PORT}/orders`, { method: 'POST', headers, body });
    assert.strictEqual(response.status, 201);
  };
  const outage = () => globalThis.fetch(`http://localhost:${RECEIVER_PORT}/outage`, { method: 'POST' });

  const dashboard = async (output) => {
    const [, token, url] = /with the token of this run, (\S+):\n {2}(\S+)\n/.exec(output);
    const page = await globalThis.fetch(url);
    assert.strictEqual(page.url, `http://localhost:${PORT}/relay/`);
    assert.match(await page.text(), /<script type="module" src="assets\//);
    const headers = { Authorization: `Bearer ${token}` };
    const overview = await globalThis.fetch(`${url}/api/overview`, { headers });
    assert.strictEqual(overview.status, 200);
  };

  const delivered = await runShop(env, [
    [welcome, (stop, output) => dashboard(output).then(() => order('Tea'))],
    ['"event":"Order Completed"', (stop) => stop('SIGINT')],
  ]);
  assert.match(
    delivered,
    /\[receiver\] signature verified: .*"product":"Tea","revenue":4.5.*\n\nDelivering queued events \.\.\.\nStopped\.\n$/,
  );
  const undelivered = await runShop(env, [
    [welcome, () => outage().then(() => order('Coffee'))],
    ['attempt 1 failed', (stop) => stop('SIGINT')],
  ]);
  assert.match(
    undelivered,
    /Delivering queued events [^]*Deliveries still queued: 1\. They are sent after the next start/,
  );
  assert.match(undelivered, /\nStopped\.\n$/);
  const afterRestart = await runShop(env, [['"product":"Coffee"', (stop) => stop('SIGINT')]]);
  assert.match(afterRestart, /\[receiver\] signature verified: .*"product":"Coffee"/);
  rmSync(folder, { recursive: true, force: true });

  for (const setting of ['PORT', 'RECEIVER_PORT']) {
    const server = createServer().listen(Number(env[setting]));
    const { code, output } = await run('npm start', { env });
    server.close();
    assert.match(output, new RegExp(`Port ${env[setting]} is in use\\. .* set ${setting} in sample/01-shop/\\.env`));
    assert.strictEqual(code, 1);
  }
  console.log('passed: npm start');
}

/** The port of the microservice is in use. */
async function microserviceWithoutPort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  const { code, output } = await run('npm start -w sample/03-microservice', { env: { PORT: String(port) } });
  server.close();
  assert.ok(output.includes(`\nPort ${port} is in use. Stop the program that uses it, or set PORT\n`), output);
  assert.doesNotMatch(output, /^ +at /m);
  assert.strictEqual(code, 1);
  console.log('passed: npm start -w sample/03-microservice, whose port is in use');
}

async function scaledWithoutStore() {
  const [PORT, SECOND_PORT, RECEIVER_PORT] = [await freePort(), await freePort(), await freePort()];
  const STORE_URL = `redis://127.0.0.1:${await freePort()}`;
  const { code, output } = await run('npm start -w sample/05-scaled', {
    env: { PORT, SECOND_PORT, RECEIVER_PORT, STORE_URL },
  });
  assert.match(output, /Redis cannot be reached: connect ECONNREFUSED/);
  assert.match(output, /start one as sample\/05-scaled\/README\.md says, or set STORE_URL/);
  assert.doesNotMatch(output, /another one takes its place/);
  assert.strictEqual(code, 1);
  console.log('passed: npm start -w sample/05-scaled, without a store');
}

async function scaled() {
  const [PORT, SECOND_PORT, RECEIVER_PORT] = [await freePort(), await freePort(), await freePort()];
  const post = async (messageId) => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Basic ${globalThis.btoa('wk_shop:')}` };
    const body = JSON.stringify({ userId: 'u1', event: 'Order Completed', messageId });
    const url = `http://127.0.0.1:${SECOND_PORT}/v1/track`;
    const response = await globalThis.fetch(url, { method: 'POST', headers, body });
    assert.strictEqual(response.status, 200);
  };
  const [first, second] = [randomUUID(), randomUUID()]; // the store may know those of an earlier run
  const ready = (output) => [...output.matchAll(/\[(ingest|deliver) (\d+)\] ready/g)];
  const steps = [
    [(output) => ready(output).length === 4, () => post(first)],
    [
      (output) => output.includes(`delivered: ${first}`),
      (stop, output) => process.kill(Number(ready(output).find(([, mode]) => mode === 'ingest')[2]), 'SIGKILL'),
    ],
    [(output) => ready(output).length === 5, () => post(second)],
    [(output) => output.includes(`delivered: ${second}`), (stop) => stop('SIGINT')],
  ];
  const { output } = await run('npm start -w sample/05-scaled', {
    env: { PORT, SECOND_PORT, RECEIVER_PORT },
    act: (text, stop) => {
      if (steps.length > 0 && steps[0][0](text)) void steps.shift()[1](stop, text);
    },
  });
  assert.match(output, /a process ended with SIGKILL; another one takes its place/);
  assert.strictEqual(steps.length, 0, output);
  console.log('passed: npm start -w sample/05-scaled');
}

async function transaction() {
  const PORT = await freePort();
  const DATABASE_URL = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';
  const order = (isOutOfStock) =>
    globalThis.fetch(`http://localhost:${PORT}/orders`, {
      method: 'POST',
      body: new globalThis.URLSearchParams(isOutOfStock ? { isOutOfStock: 'yes' } : {}),
      redirect: 'manual',
    });
  const steps = [
    ['Open http://localhost:', () => order(true)],
    ['the order is rolled back: Coffee is out of stock', () => order(false)],
    ['[receiver] webhook for order', (stop) => stop('SIGINT')],
  ];
  const { output } = await run('npm start -w sample/09-transaction', {
    env: { PORT, DATABASE_URL },
    act: (text, stop) => {
      if (steps.length > 0 && text.includes(steps[0][0])) void steps.shift()[1](stop, text);
    },
  });
  const [, id] = /\[shop\] order (\S+) is committed/.exec(output);
  assert.deepStrictEqual(
    [...output.matchAll(/webhook for order (\S+)/g)].map(([, told]) => told),
    [id],
  );
  console.log('passed: npm start -w sample/09-transaction');
}

/** Runs the `sh` blocks of the README one by one, each once the outputs have what the one before it promises. */
async function tenants() {
  const folder = mkdtempSync(join(tmpdir(), 'relay-sample-'));
  const [PORT, RECEIVER_PORT] = [await freePort(), await freePort()];
  const env = { PORT, RECEIVER_PORT, DATABASE_PATH: join(folder, 'relay.db') };
  const readme = readFileSync('sample/06-tenants/README.md', 'utf8')
    .replaceAll('localhost:3000', `localhost:${PORT}`)
    .replaceAll('localhost:3001', `localhost:${RECEIVER_PORT}`);
  const promises = [
    /"tenant":"acme","access":"write"/,
    /"url":"http:\/\/localhost:\d+\/acme",.*"events":\["Order \*"\].*"counts":\{/,
    /"code":"options_invalid","message":"url must not be a private, local or otherwise refused address/,
    /\[receiver\] \/acme: Order Completed, signatures: 1, answer: 204/,
    /\[receiver\] \/acme: Order Refunded, signatures: 2, answer: 204/,
    /"code":"endpoint_unknown"/,
    /"deliveries":\[\{.*"event":"Order Completed".*"state":"delivered"/,
  ];
  const blocks = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block);
  assert.strictEqual(blocks.length, promises.length);
  const shell = spawn('bash', { stdio: ['pipe', 'pipe', 'ignore'] });
  const steps = [/Open http/, ...promises];
  let [application, answers, stop] = ['', ''];
  const proceed = () => {
    if (steps.length === 0 || !steps[0].test(application + answers)) return;
    steps.shift();
    if (steps.length > 0) shell.stdin.write(blocks.shift());
    else stop('SIGINT');
  };
  shell.stdout.setEncoding('utf8').on('data', (text) => {
    answers += text;
    proceed();
  });
  const command = 'npm start -w sample/06-tenants';
  const { output } = await run(command, {
    env: {
      ...env,
      REGISTRY_SECRET: 'a secret for this sample',
      PORTAL_SECRET: 'another secret for this sample, longer',
    },
    act: (text, stopGroup) => {
      [application, stop] = [text, stopGroup];
      proceed();
    },
  });
  shell.kill();
  assert.deepStrictEqual(steps, [], output + answers);
  assert.doesNotMatch(answers, /127\.0\.0\.1|::1/);
  rmSync(folder, { recursive: true, force: true });

  const unset = await run(command, { env: { ...env, REGISTRY_SECRET: '' } });
  assert.match(unset.output, /REGISTRY_SECRET and PORTAL_SECRET must be set/);
  assert.strictEqual(unset.code, 1);
  console.log(`passed: ${command}`);
}

await shop();
rmSync('sample/02-typed-events/dist', { recursive: true, force: true }); // the plan is made by a command of its own
await prints('npm run plan -w sample/02-typed-events -- --check PLAN.md', {});
await prints(
  'npm start -w sample/02-typed-events',
  {},
  /sent: Order Completed \{"orderId":"order-1","revenue":42,"currency":"CHF"\}\nsent: Coupon Used \{.*\}\n$/,
  /"Order Completed" breaks the tracking plan: revenue \(min\); dropped/,
  /"Coupon Used" breaks the tracking plan: code \(too_small\); dropped/,
);
await prints(
  'npm start -w sample/03-microservice',
  { PORT: await freePort() },
  /answered: \{ id: 'order-1', total: 42 \}/,
  /\[receiver\] Order Placed of u-1: \{"orderId":"order-1","revenue":42\}/,
  /\[receiver\] Refund Failed of u-1: \{"reason":"nothing to refund"\}/,
);
await microserviceWithoutPort();
await prints('npm test -w sample/04-testing', {}, /Tests: +3 passed, 3 total/);
await scaled();
await scaledWithoutStore();
await tenants();
await transaction();
const tree = readFileSync('sample/07-observability/README.md', 'utf8').match(/^```text\n([^]*?)^```$/m)[1];
await prints(
  'npm start -w sample/07-observability',
  {},
  /\[receiver\] webhook 1, without a traceparent: answered 503\n\[receiver\] webhook 2, without a traceparent: answered 200/,
  /\[health\] {3}200 \{"status":"ok"/,
  /\[metrics\] {2}analytics_relay_delivery_attempts_total\{destination="CRM",outcome="delivered"\} 1/,
  new RegExp(`\n\n${tree.replaceAll(/[()]/g, '\\$&')}$`),
);
