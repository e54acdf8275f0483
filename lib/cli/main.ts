import { describe } from '../common/error.util.js';
import { MIGRATE_USAGE, runMigrate } from './migrate.command.js';
import { PLAN_USAGE, runPlan } from './plan.command.js';

/** A command resolves with its exit code. */
const COMMANDS = new Map<string, { usage: string; run: (args: string[]) => Promise<number> }>([
  ['plan', { usage: PLAN_USAGE, run: runPlan }],
  ['migrate', { usage: MIGRATE_USAGE, run: runMigrate }],
]);

async function main([name = '', ...args]: string[]): Promise<number> {
  const command = COMMANDS.get(name);
  if (command && !args.includes('--help')) return command.run(args);
  const isAsked = command !== undefined || name === '--help' || name === 'help';
  const usage = command?.usage ?? [...COMMANDS.values()].map((each) => each.usage).join('\n');
  (isAsked ? process.stdout : process.stderr).write(usage);
  return isAsked ? 0 : 1;
}

main(process.argv.slice(2)).then(
  // What the application's files have started does not keep the command from ending.
  (code) => process.stdout.write('', () => process.exit(code)),
  (error: unknown) => {
    process.stderr.write(`${describe(error)}\n`, () => process.exit(1));
  },
);
