// `nest add nestjs-analytics-relay` in a new application: with the real command line, as often as one likes.
import assert from 'node:assert';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Command, freePort, run, waitForPort } from './shell.mjs';

const OTHERS = /^(node_modules|dist|data)(\/|$)/;

const WRITE_KEY = 'wk_of_the_settings';

/** Signs in to the dashboard. */
const TOKEN = 'the-token-of-the-settings';

/** Every file of an application, and what it holds. */
function snapshot(app) {
  const paths = readdirSync(app, { recursive: true }).filter((path) => !OTHERS.test(path));
  const files = paths.filter((path) => statSync(join(app, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(app, path), 'utf8')]));
}

/** What the package may add to `node_modules`: before `nest add`, for collecting, and after it, in MB. */
const WEIGHT = { collecting: 6, forwarding: 12 };

/** The folders of the installed packages. npm may replace or remove others meanwhile, so only new ones are weighed. */
function installed(app) {
  const { packages } = JSON.parse(readFileSync(join(app, 'node_modules/.package-lock.json'), 'utf8'));
  return Object.keys(packages);
}

/** The sizes of all files in a folder, in MB. */
function weigh(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6;
}

/** @param print gets each line of the transcript */
export async function nestAdd({ nest, node, path, app, env, print }) {
  const type = async (line) => {
    const output = await run(line, { cwd: app, env });
    print(`$ ${line}\n${output.trimEnd()}`);
    return output;
  };
  cpSync(path, app, { recursive: true });
  await type('npm install --no-audit --no-fund');
  const generated = installed(app);
  const checkWeight = (kind) => {
    const added = installed(app).filter((folder) => !generated.includes(folder));
    const brought = added.filter((folder) => !added.some((other) => folder.startsWith(`${other}/`)));
    const weight = brought.reduce((sum, folder) => sum + weigh(join(app, folder)), 0);
    print(`# ${kind}: ${weight.toFixed(1)} MB in ${brought.join(', ')}`);
    assert.ok(brought.includes('node_modules/nestjs-analytics-relay'));
    assert.ok(weight <= WEIGHT[kind], `${kind} takes ${weight} MB`);
  };
  await type('npm install --no-audit --no-fund nestjs-analytics-relay');
  checkWeight('collecting');

  const before = snapshot(app);
  const validator = join(app, 'node_modules/class-validator');
  const add = 'npx nest add nestjs-analytics-relay';
  for (const flags of ['--skip-install --dry-run', '--typed-events --dry-run']) {
    await type(`${add} ${flags}`);
    assert.deepEqual(snapshot(app), before, 'a dry run changed something');
    assert.ok(!existsSync(validator), 'a dry run installed something');
  }

  await type(add);
  if (node >= 22) checkWeight('forwarding'); // Node 20 gets libsql
  const added = snapshot(app);
  const ending = nest === 11 ? '' : '.js';
  assert.match(added['src/app.module.ts'], /imports: \[ProductAnalyticsModule\]/);
  assert.ok(added['src/app.module.ts'].includes(`from './product-analytics.module${ending}'`));
  assert.match(added['src/main.ts'], /app\.enableShutdownHooks\(\)/);
  assert.match(added['.gitignore'] ?? '', /^\/data\/$/m);
  assert.match(added['.env.example'], /^ANALYTICS_WRITE_KEY=/m);
  await type(`${add} --skip-install`);
  assert.deepEqual(snapshot(app), added, 'a second run changed something');

  await type('npm run lint');
  assert.deepEqual(snapshot(app), added, 'the linter changed something');
  await type('npm test');
  await type('npm run build');
  await records({ app, env, type, print });

  assert.ok(!existsSync(validator), 'an optional package was installed');
  await type(`${add} --typed-events`);
  assert.ok(existsSync(validator), 'class-validator was not installed');

  await type('npx nest generate app billing');
  await type(`${add} --skip-install --project billing`);
  assert.ok(snapshot(app)['apps/billing/src/product-analytics.module.ts'], 'not added to a project of a monorepo');
}

/** The application, with its settings in `.env`, takes an event, leaves its end-to-end tests alone, and ends in order. */
async function records({ app, env, type, print }) {
  const settings = readFileSync(join(app, '.env.example'), 'utf8');
  const set = (text, name, value) => text.replace(new RegExp(`^${name}=$`, 'm'), `${name}=${value}`);
  writeFileSync(join(app, '.env'), set(set(settings, 'ADMIN_TOKEN', TOKEN), 'ANALYTICS_WRITE_KEY', WRITE_KEY));
  const port = await freePort(0);
  const start = 'npx nest start --env-file .env';
  print(`$ ${start}`);
  const application = new Command(start, { cwd: app, env: { ...env, PORT: String(port) } });
  try {
    await application.prints(/Nest application successfully started/);
    await waitForPort(port); // it says that it is started before it listens
    const answer = await globalThis.fetch(`http://localhost:${port}/v1/track`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ writeKey: WRITE_KEY, userId: 'u1', event: 'Order Completed' }),
    });
    assert.strictEqual(answer.status, 200, await answer.text());
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const { status } = await globalThis.fetch(`http://localhost:${port}/relay/api/overview`, { headers });
    assert.strictEqual(status, 200, 'the settings in .env have no effect');
    await type('npm run test:e2e');
    application.stop('SIGTERM');
    await application.ended;
    print(application.output.trimEnd());
  } finally {
    application.stop('SIGKILL');
  }
}
