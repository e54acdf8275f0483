import type { DeliveryCount, DeliveryState } from '../webhook-destination/queue/delivery.interface.js';
import { defineCommand, printRows } from './command.util.js';
import { QUEUE_OPTIONS, QUEUE_USAGE, withQueue } from './queue-options.util.js';
import { toTextTable } from './text-table.util.js';

const STATES: DeliveryState[] = ['queued', 'waiting', 'delivering', 'delivered', 'dead'];

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay stats [options]

Counts the deliveries of a queue by destination and state. This command changes nothing.

${QUEUE_USAGE}
  --json                print JSON: [{ destination, state, count }]
  --help                show this help
`,
  options: { ...QUEUE_OPTIONS, json: { type: 'boolean' } },
  run: async (values) => printRows(await withQueue(values, true, (queue) => queue.counts()), values.json, toTable),
});

function toTable(counts: DeliveryCount[]): string {
  const destinations = [...new Set(counts.map(({ destination }) => destination))].sort();
  if (destinations.length === 0) return 'No deliveries\n';
  const rows = destinations.map((destination) => {
    const own = counts.filter((row) => row.destination === destination);
    return [destination, ...STATES.map((state) => String(own.find((row) => row.state === state)?.count ?? 0))];
  });
  return toTextTable([['destination', ...STATES], ...rows], [1, 2, 3, 4, 5]);
}
