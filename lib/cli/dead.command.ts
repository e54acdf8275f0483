import type { AttemptRecord, UrlResult } from '../webhook-destination/queue/attempt.record.js';
import type { DeliveryQueue, DeliveryRecord } from '../webhook-destination/queue/delivery-queue.interface.js';
import { parseCommandArgs, toCount } from './command.args.js';
import { QUEUE_OPTIONS, QUEUE_USAGE, withQueue } from './queue.source.js';
import { toTextTable } from './text.table.js';

export const DEAD_USAGE = `Usage: nestjs-analytics-relay dead [options]

Lists the dead deliveries of a queue, the newest first: those that are not attempted again until they are replayed.
Changes nothing.

${QUEUE_USAGE}
  --destination <name>  those of one destination; default: all
  --limit <count>       maximum number to list; default: 100
  --json                as JSON, with the attempts; default: as a table
  --help                print this
`;

const DEFAULT_LIMIT = '100';

/** Deliveries that are read at once. */
const PAGE = 500;

/**
 * Lists the dead deliveries of a queue.
 *
 * @returns The exit code.
 * @throws {Error} that names what is wrong with the arguments, the file or the store.
 */
export async function runDead(args: string[]): Promise<number> {
  const { values } = parseCommandArgs('dead', {
    args,
    options: {
      ...QUEUE_OPTIONS,
      destination: { type: 'string' },
      limit: { type: 'string', default: DEFAULT_LIMIT },
      json: { type: 'boolean' },
    },
  });
  const limit = toCount('dead', 'limit', values.limit);
  const dead = await withQueue('dead', values, true, (queue) => list(queue, values.destination, limit));
  const listed = dead.slice(0, limit);
  process.stdout.write(values.json ? `${JSON.stringify(listed, null, 2)}\n` : toTable(listed));
  if (dead.length > limit) process.stderr.write(`More dead deliveries exist; raise --limit (now ${limit})\n`);
  return 0;
}

/** A dead delivery as it is printed. Its body is not: it may hold personal data. */
interface DeadDelivery {
  id: string;
  destination: string;
  source: string;
  messageId: string;
  type: string;
  event: string | undefined;
  reason: string | undefined;
  acceptedAt: string;
  lastAttemptAt: string | undefined;
  failedUrls: string[];
  attempts: { startedAt: string; results: UrlResult[] }[];
}

/** One more than the limit, if there are more. */
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

function toDeadDelivery(record: DeliveryRecord): DeadDelivery {
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
    attempts: attempts.map(({ startedAt, results }) => ({ startedAt: toTime(startedAt), results })),
  };
}

function toTime(time: number): string {
  return new Date(time).toISOString();
}

function toTable(dead: DeadDelivery[]): string {
  if (dead.length === 0) return 'No dead deliveries\n';
  const rows = dead.map(({ id, destination, source, messageId, type, event, attempts, reason, ...times }) => [
    id,
    destination,
    source,
    messageId,
    event === undefined ? type : `${type} ${JSON.stringify(event)}`,
    String(attempts.length),
    lastResult(attempts[attempts.length - 1]?.results),
    reason ?? '',
    times.lastAttemptAt ?? times.acceptedAt,
  ]);
  const head = [
    'id',
    'destination',
    'source',
    'message id',
    'type',
    'attempts',
    'last result',
    'reason',
    'last attempt',
  ];
  return toTextTable([head, ...rows], [head.indexOf('attempts')]);
}

/** What the receivers answered last: a status, or the error in place of one. */
function lastResult(results: AttemptRecord['results'] = []): string {
  return results.map(({ status, error }) => status ?? error ?? 'no answer').join(', ') || 'not attempted';
}
