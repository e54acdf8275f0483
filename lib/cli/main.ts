import { Logger } from '@nestjs/common';

import { VERSION } from '../client/version.js';
import { errorMessage } from '../common/error.util.js';
import { OptionsError } from '../common/options.error.js';
import { toPrintable } from '../common/printable.util.js';
import { backup } from './backup.command.js';
import type { Command } from './command.util.js';
import { dead } from './dead.command.js';
import { migrate } from './migrate.command.js';
import { plan } from './plan.command.js';
import { replay } from './replay.command.js';
import { stats } from './stats.command.js';

const COMMANDS = [plan, stats, dead, replay, backup, migrate];

const LIST = `Commands:\n${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(9)} ${summary}\n`).join('')}`;

const USAGE = `Usage: nestjs-analytics-relay <command> [options]

${LIST}
  nestjs-analytics-relay <command> --help  show the help of a command
  nestjs-analytics-relay --version         show the version
`;

const HELP = ['--help', '-h'];

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined) return fail(USAGE);
  if (name === '--version' || name === '-v') return print(`${VERSION}\n`);
  if (name === 'help' && args[0] !== undefined) return main([args[0], '--help']);
  if (name === 'help' || HELP.includes(name)) return print(USAGE);
  const command = COMMANDS.find((each) => each.name === name);
  if (!command) {
    return fail(`Unknown ${name.startsWith('-') ? 'option' : 'command'} ${JSON.stringify(name)}\n\n${LIST}`);
  }
  return args.some((arg) => HELP.includes(arg)) ? print(command.usage) : run(command, args);
}

async function run(command: Command, args: string[]): Promise<number> {
  try {
    return await command.run(args);
  } catch (error) {
    const help = `\nSee: nestjs-analytics-relay ${command.name} --help`;
    const fault = error instanceof OptionsError ? error.faults.join('; ') + help : errorMessage(error);
    return fail(`${`${command.name}: ${fault}`.split('\n').map(toPrintable).join('\n')}\n`);
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function fail(text: string): number {
  process.stderr.write(text);
  return 1;
}

// Other programs read a command's output; warnings are for the application that uses the queue.
const error = (message: unknown) => void process.stderr.write(`${String(message)}\n`);
Logger.overrideLogger({ error, fatal: error, warn: () => undefined, log: () => undefined });

// The reader of a pipe, such as head, may close it.
process.stdout.on('error', () => process.exit(1));

void main(process.argv.slice(2)).then((code) => {
  // The application's files may have started timers or servers, which would keep the process alive.
  process.stderr.write('', () => process.stdout.write('', () => process.exit(code)));
});
