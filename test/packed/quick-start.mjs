// README's quick start, typed word for word in an application that the Nest command line has made.
import assert from 'node:assert';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { findInDashboard } from './dashboard.mjs';
import { translate } from './package-managers.mjs';
import { otherInstall, quickStartSteps, toPattern } from './readme.mjs';
import { Command, run } from './shell.mjs';

/** The ports of the documents: the application's, and that of its receiver. */
export const PORTS = { application: 3000, receiver: 4000 };

/** A text of the documents, with other ports in the place of theirs. */
export const withPorts = (text, { application, receiver }) =>
  text.replace(/\b3000\b/g, String(application)).replace(/\b4000\b/g, String(receiver));

/** Longest time from the request to the webhook, in ms. */
const ARRIVES_WITHIN = 5_000;

/** The event that the request of the documents records. */
export const EVENT = 'Order Completed';

/**
 * Does what README says, and runs the application's end-to-end tests beside it; resolves with the time from the request to the webhook, in ms.
 *
 * @param print gets each line of the transcript
 * @param usage gets the CPU time of the commands
 */
export async function quickStart({ app, manager, env, ports, print, usage }) {
  const onPort = (text) => withPorts(text, ports);
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
  return serve(steps.slice(start));

  async function type(line) {
    print(`$ ${line}`);
    const output = await run(line, { cwd: app, env, usage });
    print(output.replace(/^npm warn .*\n/gm, '').trimEnd()); // of the Nest command line's own packages
  }

  async function serve([{ command }, ...rest]) {
    const line = translate(command, manager);
    print(`$ ${line}`);
    const application = new Command(line, { cwd: app, env: { ...env, PORT: String(ports.application) } });
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
      // Its tests leave the file of the running application alone.
      print(`$ npm run test:e2e\n${(await run(translate('npm run test:e2e', manager), { cwd: app, env })).trimEnd()}`);
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
