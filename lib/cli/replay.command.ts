import { argumentFault, countOf, defineCommand, printError } from './command.util.js';
import { QUEUE_OPTIONS, QUEUE_USAGE, withQueue } from './queue-options.util.js';

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay replay <id> ... [options]
       nestjs-analytics-relay replay --destination <name> | --all [options]

Puts dead deliveries back into the queue, each with a new retry window, and prints their number. The application
delivers them: from a SQLite file after its next start, from Redis or PostgreSQL at once. The dead command lists ids.

${QUEUE_USAGE}
  --destination <name>  replay all dead deliveries to this destination
  --all                 replay all dead deliveries
  --help                show this help
`,
  allowPositionals: true,
  options: { ...QUEUE_OPTIONS, destination: { type: 'string' }, all: { type: 'boolean', default: false } },
  run: async (values, ids) => {
    const { destination, all } = values;
    const selections = [ids.length > 0, destination !== undefined, all].filter(Boolean).length;
    if (selections !== 1) throw argumentFault('specify exactly one of: ids, --destination, --all');
    const unknown: string[] = [];
    const count = await withQueue(values, false, async (queue) => {
      if (ids.length === 0) return queue.replay({ destination });
      let replayed = 0;
      for (const id of new Set(ids)) {
        const found = await queue.replay({ id });
        if (found === 0) unknown.push(id);
        replayed += found;
      }
      return replayed;
    });
    process.stdout.write(`${countOf(count, 'delivery', 'deliveries')} replayed\n`);
    if (unknown.length === 0) return 0;
    printError(`No dead delivery has this id: ${unknown.join(', ')}\n`);
    return 1;
  },
});
