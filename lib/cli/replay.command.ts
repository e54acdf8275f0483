import type { DeliveryQueue } from '../webhook-destination/queue/delivery-queue.interface.js';
import { parseCommandArgs, UsageError } from './command.args.js';
import { QUEUE_OPTIONS, QUEUE_USAGE, withQueue } from './queue.source.js';

export const REPLAY_USAGE = `Usage: nestjs-analytics-relay replay <id> ... [options]
       nestjs-analytics-relay replay --destination <name> | --all [options]

Puts dead deliveries back into the queue, each with a new retry window, and prints their number. The application
delivers them: that of a SQLite file once it is started, those that share a queue at once. Ids are those that the
command dead lists.

${QUEUE_USAGE}
  --destination <name>  all dead deliveries of one destination
  --all                 all dead deliveries
  --help                print this
`;

/**
 * Puts dead deliveries back into the queue.
 *
 * @returns The exit code: 1 where an id is not that of a dead delivery.
 * @throws {Error} that names what is wrong with the arguments, the file or the store.
 */
export async function runReplay(args: string[]): Promise<number> {
  const { values, positionals: ids } = parseCommandArgs('replay', {
    args,
    allowPositionals: true,
    options: { ...QUEUE_OPTIONS, destination: { type: 'string' }, all: { type: 'boolean', default: false } },
  });
  const { destination, all } = values;
  const selections = [ids.length > 0, destination !== undefined, all].filter(Boolean).length;
  if (selections !== 1) throw new UsageError('replay', 'give ids, --destination or --all, and only one of them');
  const unknown: string[] = [];
  const count = await withQueue('replay', values, false, (queue) =>
    ids.length > 0 ? replayEach(queue, ids, unknown) : queue.replay({ destination }),
  );
  process.stdout.write(`${count} ${count === 1 ? 'delivery' : 'deliveries'} replayed\n`);
  if (unknown.length === 0) return 0;
  process.stderr.write(`No dead delivery has this id: ${unknown.join(', ')}\n`);
  return 1;
}

async function replayEach(queue: DeliveryQueue, ids: string[], unknown: string[]): Promise<number> {
  let count = 0;
  for (const id of new Set(ids)) {
    const replayed = await queue.replay({ id });
    if (replayed === 0) unknown.push(id);
    count += replayed;
  }
  return count;
}
