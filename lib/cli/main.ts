import { errorMessage } from '../client/error.util.js';
import { toPrintableLines } from '../client/printable.util.js';
import { VERSION } from '../client/version.js';
import { OptionsError } from '../common/options.error.js';
import { type Command, printError } from './command.util.js';

interface CommandEntry {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** Imports the command with only the packages it needs, because loading takes most of a command's time. */
  load: () => Promise<{ command: Command }>;
}

const COMMANDS: CommandEntry[] = [
  { name: 'plan', summary: 'print or check the tracking plan', load: () => import('./plan.command.js') },
  { name: 'stats', summary: 'count the deliveries of a queue', load: () => import('./stats.command.js') },
  { name: 'dead', summary: 'list dead deliveries', load: () => import('./dead.command.js') },
  { name: 'replay', summary: 'put dead deliveries back into the queue', load: () => import('./replay.command.js') },
  { name: 'backup', summary: 'copy a SQLite queue, even while it is open', load: () => import('./backup.command.js') },
  {
    name: 'migrate',
    summary: 'move a SQLite queue to Redis or PostgreSQL',
    load: () => import('./migrate.command.js'),
  },
  { name: 'sql', summary: 'print the tables of postgresQueue()', load: () => import('./sql.command.js') },
  { name: 'listen', summary: 'receive, verify and print webhooks', load: () => import('./listen.command.js') },
  { name: 'mcp', summary: 'answer the questions of an AI assistant', load: () => import('./mcp.command.js') },
];

const LIST = `Commands:\n${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(9)} ${summary}\n`).join('')}`;

const USAGE = `Usage: nestjs-analytics-relay <command> [options]

${LIST}
  nestjs-analytics-relay <command> --help  show the help of a command
  nestjs-analytics-relay --version         show the version
`;

const HELP = ['--help', '-h'];

/** Runs the command line with these arguments; resolves with its exit code. */
export async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined) return fail(USAGE);
  if (name === '--version' || name === '-v') return print(`${VERSION}\n`);
  if (name === 'help' && args[0] !== undefined) return main([args[0], '--help']);
  if (name === 'help' || HELP.includes(name)) return print(USAGE);
  const entry = COMMANDS.find((each) => each.name === name);
  if (!entry) {
    return fail(`Unknown ${name.startsWith('-') ? 'option' : 'command'} ${JSON.stringify(name)}\n\n${LIST}`);
  }
  return run(entry, args);
}

async function run({ name, load }: CommandEntry, args: string[]): Promise<number> {
  try {
    const { command } = await load();
    if (args.some((arg) => HELP.includes(arg))) return print(command.usage);
    await redirectLogger();
    return await command.run(args);
  } catch (error) {
    const help = `\nSee: nestjs-analytics-relay ${name} --help`;
    const fault = error instanceof OptionsError ? error.faults.join('; ') + help : errorMessage(error);
    return fail(`${toPrintableLines(`${name}: ${fault}`)}\n`);
  }
}

/** Sends errors of Nest's loggers to standard error and drops the rest: other programs read a command's output. */
async function redirectLogger(): Promise<void> {
  const { Logger } = await import('@nestjs/common');
  const error = (message: unknown) => printError(`${String(message)}\n`);
  Logger.overrideLogger({ error, fatal: error, warn: () => undefined, log: () => undefined });
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function fail(text: string): number {
  printError(text);
  return 1;
}
