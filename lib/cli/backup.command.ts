import { RelayError } from '../client/relay.error.js';
import { backUp } from '../stores/sqlite/sqlite-backup.js';
import { argumentFault, defineCommand } from './command.util.js';
import { existingFile } from './queue-options.util.js';

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay backup --out <file> [options]

Copies the file of a SQLite queue, even while an application has it open. The copy is a single file with all messages
accepted before the command started. It is checked before it gets its final name, and only its owner can read it.

  --out <file>     the copy; its folder must exist
  --from <file>    the SQLite file; default: ./data/relay.db
  --force          replace the copy if it exists
  --help           show this help
`,
  options: { from: { type: 'string' }, out: { type: 'string' }, force: { type: 'boolean', default: false } },
  run: async ({ from, out, force }) => {
    if (out === undefined) throw argumentFault('--out <file> is required');
    const file = existingFile(from);
    const interruption = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => interruption.abort(new RelayError('interrupted', `interrupted by ${signal}`)));
    }
    const size = await backUp(file, out, { overwrites: force, signal: interruption.signal });
    process.stdout.write(`Backed up ${file} to ${out}: ${size} bytes\n`);
  },
});
