import { RelayError } from '../client/relay.error.js';
import { backUp } from '../webhook-destination/queue/sqlite/sqlite-backup.js';
import { argumentFault, defineCommand } from './command.util.js';
import { existingFile } from './queue-options.util.js';

export const backup = defineCommand({
  name: 'backup',
  summary: 'copy a SQLite queue, also while it is open',
  usage: `Usage: nestjs-analytics-relay backup --out <file> [options]

Copies the file of a SQLite queue, also while an application has it open. The copy is one file with all messages that
were accepted before the command began. It is checked before it gets its name, and only its owner can read it.

  --out <file>     the copy; its folder must exist
  --from <file>    the SQLite file; default: ./data/relay.db
  --force          replace the copy if it exists
  --help           print this
`,
  options: { from: { type: 'string' }, out: { type: 'string' }, force: { type: 'boolean', default: false } },
  run: async ({ from, out, force }) => {
    if (!out) throw argumentFault('--out <file> is required');
    const file = existingFile(from);
    const interruption = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => interruption.abort(new RelayError('interrupted', `interrupted by ${signal}`)));
    }
    const size = await backUp(file, out, { overwrites: force, signal: interruption.signal });
    process.stdout.write(`${file} is backed up to ${out}: ${size} bytes\n`);
  },
});
