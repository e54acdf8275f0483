#!/usr/bin/env node
import { describe } from '../common/error.util.js';
import { runMigrate } from './migrate.command.js';

const USAGE = `Usage: nestjs-analytics-relay migrate --to <url> [options]

Moves the deliveries of a SQLite queue that are still to be made to a queue on Redis or PostgreSQL. The application
that has the file open must have ended; the one that uses the new queue may run.

  --to <url>       redis://, rediss:// or postgres://
  --from <file>    the SQLite file; default: ./data/relay.db
  --prefix <name>  prefix of the new queue; default: relay
  --dead           dead deliveries are delivered again; default: they stay in the file
  --help           print this
`;

/** The exit code. */
async function main([command, ...args]: string[]): Promise<number> {
  if (command === 'migrate' && !args.includes('--help')) return runMigrate(args);
  const isAsked = command === 'migrate' || command === '--help' || command === 'help';
  (isAsked ? process.stdout : process.stderr).write(USAGE);
  return isAsked ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (code) => process.stdout.write('', () => process.exit(code)),
  (error: unknown) => {
    process.stderr.write(`${describe(error)}\n`, () => process.exit(1));
  },
);
