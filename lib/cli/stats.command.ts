import type { DeliveryCount, DeliveryState } from '../webhook-destination/queue/delivery-queue.interface.js';
import { parseCommandArgs } from './command.args.js';
import { QUEUE_OPTIONS, QUEUE_USAGE, withQueue } from './queue.source.js';
import { toTextTable } from './text.table.js';

export const STATS_USAGE = `Usage: nestjs-analytics-relay stats [options]

Counts the deliveries of a queue by destination and state. Changes nothing.

${QUEUE_USAGE}
  --json                as JSON: [{ destination, state, count }]
  --help                print this
`;

const STATES: DeliveryState[] = ['queued', 'waiting', 'delivering', 'delivered', 'dead'];

/**
 * Counts the deliveries of a queue.
 *
 * @returns The exit code.
 * @throws {Error} that names what is wrong with the arguments, the file or the store.
 */
export async function runStats(args: string[]): Promise<number> {
  const { values } = parseCommandArgs('stats', { args, options: { ...QUEUE_OPTIONS, json: { type: 'boolean' } } });
  const counts = await withQueue('stats', values, true, (queue) => queue.counts());
  process.stdout.write(values.json ? `${JSON.stringify(counts, null, 2)}\n` : toTable(counts));
  return 0;
}

function toTable(counts: DeliveryCount[]): string {
  const destinations = [...new Set(counts.map(({ destination }) => destination))].sort();
  if (destinations.length === 0) return 'No deliveries\n';
  const countOf = (destination: string, state: DeliveryState) =>
    counts.find((row) => row.destination === destination && row.state === state)?.count ?? 0;
  const rows = destinations.map((destination) => [
    destination,
    ...STATES.map((state) => String(countOf(destination, state))),
  ]);
  return toTextTable([['destination', ...STATES], ...rows], [1, 2, 3, 4, 5]);
}
