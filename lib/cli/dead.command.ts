import type { DeliveryRecord } from '../webhook-destination/queue/delivery.interface.js';
import { withoutAnswers } from '../webhook-destination/queue/kept-answers.util.js';
import type { DeliveryQueue } from '../webhook-destination/queue/delivery.queue.js';
import { argumentFault, defineCommand, printRows } from './command.util.js';
import { QUEUE_OPTIONS, QUEUE_USAGE, withQueue } from './queue-options.util.js';
import { toTextTable } from './text-table.util.js';

/** Number of deliveries that are read at once. */
const PAGE = 500;

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay dead [options]

Lists the dead deliveries of a queue, newest first. They are not attempted again until they are replayed.
This command changes nothing.

${QUEUE_USAGE}
  --destination <name>  only deliveries to this destination; default: all
  --limit <count>       maximum number to list; default: 100
  --json                print JSON, including the attempts; default: a table
  --help                show this help
`,
  options: {
    ...QUEUE_OPTIONS,
    destination: { type: 'string' },
    limit: { type: 'string', default: '100' },
    json: { type: 'boolean' },
  },
  run: async (values) => {
    if (!/^[1-9]\d{0,8}$/.test(values.limit)) {
      throw argumentFault('--limit must be a whole number from 1 to 999,999,999');
    }
    const limit = Number(values.limit);
    const found = await withQueue(values, true, (queue) => list(queue, values.destination, limit));
    printRows(found.slice(0, limit), values.json, toTable);
    if (found.length > limit) process.stderr.write(`More dead deliveries exist; raise --limit (now ${limit})\n`);
  },
});

/** Lists dead deliveries up to the limit, and one more if more exist. */
async function list(queue: DeliveryQueue, destination: string | undefined, limit: number): Promise<DeadDelivery[]> {
  const found: DeadDelivery[] = [];
  while (found.length <= limit) {
    const page = { limit: Math.min(PAGE, limit + 1 - found.length), after: found[found.length - 1]?.id };
    const records = await queue.list({ state: 'dead', destination }, page);
    found.push(...records.map(toDeadDelivery));
    if (records.length < page.limit) break;
  }
  return found;
}

type DeadDelivery = ReturnType<typeof toDeadDelivery>;

/** Converts a dead delivery for printing, without its body and answers, which may contain personal data. */
function toDeadDelivery(record: DeliveryRecord) {
  const { id, destination, source, messageId, reason, failedUrls, attempts } = record;
  const { type = 'unknown', event } = JSON.parse(record.body) as { type?: string; event?: string };
  const last = attempts[attempts.length - 1];
  return {
    id,
    destination,
    source,
    messageId,
    type,
    event,
    reason,
    acceptedAt: toTime(record.acceptedAt),
    lastAttemptAt: last && toTime(last.startedAt),
    failedUrls,
    attempts: attempts.map(withoutAnswers).map(({ startedAt, results }) => ({ startedAt: toTime(startedAt), results })),
  };
}

function toTime(time: number): string {
  return new Date(time).toISOString();
}

const COLUMNS: Record<string, (delivery: DeadDelivery) => string> = {
  id: ({ id }) => id,
  destination: ({ destination }) => destination,
  source: ({ source }) => source,
  'message id': ({ messageId }) => messageId,
  type: ({ type, event }) => (event === undefined ? type : `${type} ${JSON.stringify(event)}`),
  attempts: ({ attempts }) => String(attempts.length),
  'last result': ({ attempts }) => {
    const results = attempts[attempts.length - 1]?.results ?? [];
    return results.map(({ status, error }) => status ?? error ?? 'no response').join(', ') || 'not attempted';
  },
  reason: ({ reason }) => reason ?? '',
  'last attempt': ({ lastAttemptAt }) => lastAttemptAt ?? '',
};

function toTable(deliveries: DeadDelivery[]): string {
  if (deliveries.length === 0) return 'No dead deliveries\n';
  const head = Object.keys(COLUMNS);
  const rows = deliveries.map((delivery) => Object.values(COLUMNS).map((toCell) => toCell(delivery)));
  return toTextTable([head, ...rows], [head.indexOf('attempts')]);
}
