// docs/getting-started.md, from its first command to its replay: types, writes and sees what the page says.
import assert from 'node:assert';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { findInDashboard, replayInDashboard } from './dashboard.mjs';
import { EVENT, withPorts } from './quick-start.mjs';
import { gettingStartedSections, toPattern } from './readme.mjs';
import { Command, run, waitForPort } from './shell.mjs';

/** Longest time until a delivery that waits is tried again, in ms: "within a minute". */
const RETRIED_WITHIN = 60_000;

/** What the page says that a command prints which keeps its terminal. */
const STARTED = [
  [/\breceiver\.mjs$/, /waiting for webhooks/],
  [/\bnest start\b/, /Nest application successfully started/],
];

/** The page's first step; resolves with the folder of the application. */
export async function createAsDocumented({ cwd, nest, env, usage, print }) {
  const [[create, enter]] = gettingStartedSections().sections;
  const line = create.command.replace('@nestjs/cli', `@nestjs/cli@${nest}`);
  print(`$ ${line}`);
  const answered = { ...env, npm_config_yes: 'true' }; // npx asks whether it may install the Nest command line
  print((await run(line, { cwd, env: answered, usage })).trimEnd());
  return join(cwd, /^cd (\S+)$/.exec(enter.command)[1]);
}

/** The page's other steps. */
export async function gettingStarted({ app, env, ports, print }) {
  const { sections, dashboard } = gettingStartedSections();
  const page = { ...dashboard, url: withPorts(dashboard.url, ports), event: EVENT };
  const order = sections[5].find(({ command }) => command?.startsWith('curl')).command;
  const receiverLine = sections[4].find(({ command }) => command).command;
  const received = toPattern(sections[5].find(({ kind }) => kind === 'output').text);
  const running = new Set();
  let receiver;
  let output = '';

  /** A command that keeps its terminal; resolves once it prints what the page says. */
  async function start(line, pattern) {
    print(`$ ${line}`);
    const command = new Command(line, { cwd: app, env: { ...env, PORT: String(ports.application) } });
    running.add(command);
    await command.prints(pattern);
    return command;
  }

  async function type(text) {
    const line = withPorts(text, ports);
    const started = STARTED.find(([command]) => command.test(line))?.[1];
    if (started) {
      const command = await start(line, started);
      if (/receiver/.test(line)) receiver = command;
      else await waitForPort(ports.application); // Nest says that it is started before it listens
    } else {
      print(`$ ${line}`);
      output = await run(line, { cwd: app, env });
      print(output.trimEnd());
    }
  }

  async function perform(steps) {
    for (const { kind, command, path, text } of steps) {
      if (kind === 'command') await type(command);
      else if (kind === 'settings') await writeSettings(withPorts(text, ports));
      else if (kind === 'file') {
        mkdirSync(dirname(join(app, path)), { recursive: true });
        writeFileSync(join(app, path), withPorts(text, ports));
      } else if (receiver) await receiver.prints(received);
      else for (const line of text.split('\n')) assert.ok(output.includes(line), `${line} was not printed`);
    }
  }

  /** As the page says: `grep = .env` shows them. */
  async function writeSettings(text) {
    const lines = text.trimEnd().split('\n');
    let settings = readFileSync(join(app, '.env'), 'utf8');
    for (const line of lines) {
      const [name] = line.split('=');
      assert.match(settings, new RegExp(`^${name}=`, 'm'), `.env.example has no ${name}`);
      settings = settings.replace(new RegExp(`^${name}=.*$`, 'm'), line);
    }
    writeFileSync(join(app, '.env'), settings);
    await type('grep = .env');
    for (const line of lines) assert.ok(output.split('\n').includes(line), `grep = .env shows no ${line}`);
  }

  async function stopReceiver() {
    receiver.stop('SIGINT');
    await receiver.ended;
    print(receiver.output.trimEnd());
  }

  try {
    for (const steps of sections.slice(1, 6)) await perform(steps);
    print(`# ${page.url}: ${await findInDashboard(page)}`);

    await stopReceiver();
    await type(order);
    print(`# ${page.url}: ${await findInDashboard({ ...page, state: 'waiting' })}`);
    await perform(sections[7]);
    await type(receiverLine);
    await receiver.prints(received, RETRIED_WITHIN);

    await stopReceiver();
    await perform(sections[8]);
    await type(order);
    await receiver.prints(/^404 \{/m);
    const prepare = async () => {
      await stopReceiver();
      await type(receiverLine);
    };
    const dead = await replayInDashboard({ ...page, reason: 'every URL failed permanently', prepare });
    print(`# ${page.url}: ${dead}`);
    await receiver.prints(received);
    print(receiver.output.trimEnd());
    for (const { line, output } of [...running].filter(({ line }) => line.includes('nest start'))) {
      print(`# printed by ${line}\n${output.trimEnd()}`);
    }
  } finally {
    for (const command of running) command.stop('SIGKILL');
  }
}
