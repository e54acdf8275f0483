// README's quick start, typed word for word in an application that the Nest command line has made.
import assert from 'node:assert';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { findInDashboard } from './dashboard.mjs';
import { translate } from './package-managers.mjs';
import { otherInstall, quickStartSteps, toPattern } from './readme.mjs';
import { Command, run } from './shell.mjs';

/** README's port. Another one is put in its place where it is taken. */
export const README_PORT = 3000;

/** Longest time from the request to the webhook, in ms. */
const ARRIVES_WITHIN = 5_000;

/** The event that README's request records. */
const EVENT = 'Order Completed';

let serving = Promise.resolve();

/** Applications take turns at the port. */
function inTurn(act) {
  const turn = serving.then(act);
  serving = turn.catch(() => undefined);
  return turn;
}

/**
 * Does what README says; resolves with the time from the request to the webhook, in ms.
 *
 * @param print gets each line of the transcript
 * @param usage gets the CPU time of the commands
 */
export async function quickStart({ app, manager, env, port, print, usage }) {
  const onPort = (text) => text.replaceAll(`localhost:${README_PORT}`, `localhost:${port}`);
  const steps = quickStartSteps();
  const start = steps.findIndex(({ command }) => command?.startsWith('npx nest start'));
  assert.notStrictEqual(start, -1, "README's quick start has no line `npx nest start`");

  for (const { kind, path, text, command } of steps.slice(0, start)) {
    if (kind === 'file') {
      print(`# ${path} as in README, ${text.split('\n').length - 1} lines`);
      mkdirSync(dirname(join(app, path)), { recursive: true });
      writeFileSync(join(app, path), onPort(text));
    } else {
      const isOther = command.startsWith('npx nest add') && manager !== 'npm';
      for (const line of isOther ? otherInstall() : [command]) await type(translate(line, manager));
    }
  }
  return inTurn(() => serve(steps.slice(start)));

  async function type(line) {
    print(`$ ${line}`);
    const output = await run(line, { cwd: app, env, usage });
    print(output.replace(/^npm warn .*\n/gm, '').trimEnd()); // of the Nest command line's own packages
  }

  async function serve([{ command }, ...rest]) {
    const line = translate(command, manager);
    print(`$ ${line}`);
    const application = new Command(line, { cwd: app, env: { ...env, PORT: String(port) } });
    try {
      await application.prints(/Nest application successfully started/);
      const started = application.output.length;
      print(application.output.trimEnd());
      let requested = 0;
      let delay = 0;
      for (const step of rest) {
        if (step.kind === 'command') {
          await type(onPort(step.command));
          requested = Date.now();
        } else if (step.kind === 'output') {
          await application.prints(toPattern(step.text), ARRIVES_WITHIN);
          delay = Date.now() - requested;
        } else {
          const found = await findInDashboard({ ...step, url: onPort(step.url), event: EVENT });
          print(`# ${onPort(step.url)}: ${found}`);
        }
      }
      application.stop('SIGINT');
      await application.ended;
      usage.cpu += application.cpu;
      print(application.output.slice(started).trim());
      return delay;
    } finally {
      application.stop('SIGKILL');
    }
  }
}
