import { existsSync } from 'node:fs';

import { createQueue } from '../webhook-destination/queue/bullmq/bullmq.queue.js';
import type { BullmqDeliveryQueue } from '../webhook-destination/queue/bullmq/bullmq-delivery.queue.js';
import { toBullmqOptions } from '../webhook-destination/queue/bullmq/bullmq.options.js';
import type { DeliveryQueue } from '../webhook-destination/queue/delivery-queue.interface.js';
import { sqliteQueue, sqliteReader } from '../webhook-destination/queue/sqlite/sqlite.queue.js';
import { UsageError } from './command.args.js';

const DEFAULT_FILE = './data/relay.db';

/** Options that name a queue, for `parseArgs`. */
export const QUEUE_OPTIONS = {
  from: { type: 'string' },
  store: { type: 'string' },
  prefix: { type: 'string' },
} as const;

/** The same, for the usage of a command. */
export const QUEUE_USAGE = `  --from <file>         the SQLite file, which no application may have open; default: ${DEFAULT_FILE}
  --store <url>         a queue on Redis or PostgreSQL instead: redis://, rediss:// or postgres://; it may be in use
  --prefix <name>       prefix of the queue on Redis or PostgreSQL; default: relay`;

interface QueueValues {
  from?: string;
  store?: string;
  prefix?: string;
}

/**
 * Opens the queue that the options of a command name, and closes it once the work is done.
 *
 * @param isReadOnly whether a SQLite file must stay as it is
 */
export async function withQueue<T>(
  command: string,
  { from, store, prefix }: QueueValues,
  isReadOnly: boolean,
  work: (queue: DeliveryQueue) => Promise<T>,
): Promise<T> {
  if (store !== undefined && from !== undefined) throw new UsageError(command, 'give either --from or --store');
  if (store === undefined && prefix !== undefined) throw new UsageError(command, '--prefix goes with --store');
  const queue =
    store === undefined ? fileQueue(command, from, isReadOnly) : storeQueue(command, 'store', store, prefix);
  await queue.open();
  try {
    return await work(queue);
  } finally {
    await queue.close();
  }
}

/** A queue on Redis or PostgreSQL, by the URL that is the value of an option. */
export function storeQueue(
  command: string,
  option: string,
  url: string | undefined,
  prefix: string | undefined,
  migrate = false,
): BullmqDeliveryQueue {
  const [, scheme = ''] = /^(redis|rediss|postgres|postgresql):\/\//.exec(url ?? '') ?? [];
  if (scheme === '' || !URL.canParse(url!)) {
    throw new UsageError(
      command,
      `--${option} must be the URL of a Redis (redis://, rediss://) or a PostgreSQL (postgres://)`,
    );
  }
  const backend = scheme.startsWith('postgres') ? 'postgres' : 'redis';
  return createQueue(
    toBullmqOptions({ backend, connection: url!, prefix, migrate: migrate && backend === 'postgres' }),
  );
}

/** The file of a SQLite queue. Commands never make one. */
export function existingFile(command: string, file = DEFAULT_FILE): string {
  if (!existsSync(file))
    throw new UsageError(command, `--from must be the file of a SQLite queue; there is no ${file}`);
  return file;
}

function fileQueue(command: string, from: string | undefined, isReadOnly: boolean): DeliveryQueue {
  const path = existingFile(command, from);
  return isReadOnly ? sqliteReader(path) : sqliteQueue({ path })();
}
