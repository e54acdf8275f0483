import { describe } from '../common/error.util.js';
import { backUp } from '../webhook-destination/queue/sqlite/sqlite.backup.js';
import { parseCommandArgs, UsageError } from './command.args.js';
import { existingFile } from './queue.source.js';

export const BACKUP_USAGE = `Usage: nestjs-analytics-relay backup --out <file> [options]

Copies the file of a SQLite queue, also while an application has it open. The copy is one file that holds all messages
that were accepted before the command began; it is checked before it gets its name, and only its owner can read it.

  --out <file>     the copy; its folder must exist
  --from <file>    the SQLite file; default: ./data/relay.db
  --force          replace the copy if it exists
  --help           print this
`;

/**
 * Copies the file of a SQLite queue.
 *
 * @returns The exit code.
 * @throws {Error} that names what is wrong with the arguments or the files.
 */
export async function runBackup(args: string[]): Promise<number> {
  const { values } = parseCommandArgs('backup', {
    args,
    options: { from: { type: 'string' }, out: { type: 'string' }, force: { type: 'boolean', default: false } },
  });
  const { out, force } = values;
  if (!out) throw new UsageError('backup', '--out <file> is required');
  const from = existingFile('backup', values.from);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interruption.abort(new Error(`interrupted by ${signal}`)));
  }
  try {
    const size = await backUp(from, out, { overwrites: force, signal: interruption.signal });
    process.stdout.write(`${from} is backed up to ${out}: ${size} bytes\n`);
    return 0;
  } catch (error) {
    throw new Error(`backup: ${describe(error)}`, { cause: error });
  }
}
