import { Logger } from '@nestjs/common';

import { VERSION } from '../client/version.js';
import { describe } from '../common/error.util.js';
import { toPrintable } from '../common/printable.util.js';
import { BACKUP_USAGE, runBackup } from './backup.command.js';
import { DEAD_USAGE, runDead } from './dead.command.js';
import { MIGRATE_USAGE, runMigrate } from './migrate.command.js';
import { PLAN_USAGE, runPlan } from './plan.command.js';
import { REPLAY_USAGE, runReplay } from './replay.command.js';
import { runStats, STATS_USAGE } from './stats.command.js';

interface Command {
  summary: string;
  usage: string;
  /** Resolves with the exit code. */
  run: (args: string[]) => Promise<number>;
}

const COMMANDS = new Map<string, Command>([
  ['plan', { summary: 'print or check the tracking plan', usage: PLAN_USAGE, run: runPlan }],
  ['stats', { summary: 'count the deliveries of a queue', usage: STATS_USAGE, run: runStats }],
  ['dead', { summary: 'list dead deliveries', usage: DEAD_USAGE, run: runDead }],
  ['replay', { summary: 'put dead deliveries back into the queue', usage: REPLAY_USAGE, run: runReplay }],
  ['backup', { summary: 'copy a SQLite queue, also while it is open', usage: BACKUP_USAGE, run: runBackup }],
  ['migrate', { summary: 'move a SQLite queue to Redis or PostgreSQL', usage: MIGRATE_USAGE, run: runMigrate }],
]);

const LIST = `Commands:\n${[...COMMANDS].map(([name, { summary }]) => `  ${name.padEnd(9)} ${summary}\n`).join('')}`;

const USAGE = `Usage: nestjs-analytics-relay <command> [options]

${LIST}
  nestjs-analytics-relay <command> --help  print the options of a command
  nestjs-analytics-relay --version         print the version
`;

const HELP = ['--help', '-h'];

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined) return fail(USAGE);
  if (name === '--version' || name === '-v') return print(`${VERSION}\n`);
  if (name === 'help' && args[0] !== undefined) return main([args[0], '--help']);
  if (name === 'help' || HELP.includes(name)) return print(USAGE);
  const command = COMMANDS.get(name);
  if (!command) {
    return fail(`Unknown ${name.startsWith('-') ? 'option' : 'command'} ${JSON.stringify(name)}\n\n${LIST}`);
  }
  return args.some((arg) => HELP.includes(arg)) ? print(command.usage) : command.run(args);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function fail(text: string): number {
  process.stderr.write(text);
  return 1;
}

/** What a command prints is for a program to read; warnings are for the application that has the queue. */
function logErrorsAlone(): void {
  const error = (message: unknown) => void process.stderr.write(`${String(message)}\n`);
  Logger.overrideLogger({ error, fatal: error, warn: () => undefined, log: () => undefined });
}

// The reader of a pipe, such as head, may have enough.
process.stdout.on('error', () => process.exit(1));
logErrorsAlone();
main(process.argv.slice(2)).then(
  // What the application's files have started does not keep the command from ending.
  (code) => process.stdout.write('', () => process.exit(code)),
  (error: unknown) => {
    const lines = describe(error).split('\n').map(toPrintable);
    process.stderr.write(`${lines.join('\n')}\n`, () => process.exit(1));
  },
);
