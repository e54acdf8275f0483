import { statSync } from 'node:fs';

import { createQueue } from '../webhook-destination/queue/bullmq/bullmq.queue.js';
import type { BullmqDeliveryQueue } from '../webhook-destination/queue/bullmq/bullmq-delivery.queue.js';
import { toBullmqOptions } from '../webhook-destination/queue/bullmq/bullmq.options.js';
import type { DeliveryQueue } from '../webhook-destination/queue/delivery-queue.interface.js';
import { OPEN_ELSEWHERE } from '../webhook-destination/queue/sqlite/sqlite.faults.js';
import { sqliteTool } from '../webhook-destination/queue/sqlite/sqlite.queue.js';
import { UsageError } from './command.args.js';

/** The file where no other is named. */
export const DEFAULT_FILE = './data/relay.db';

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
  if (store !== undefined && from !== undefined) throw new UsageError(command, '--from and --store cannot be combined');
  if (store === undefined && prefix !== undefined) throw new UsageError(command, '--prefix requires --store');
  const queue =
    store === undefined ? await openFile(command, from, isReadOnly) : await openStore(command, store, prefix);
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
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new UsageError(command, `${file} does not exist; set --from to the SQLite file`);
  if (found.isDirectory()) throw new UsageError(command, `${file} is a folder; set --from to the SQLite file in it`);
  return file;
}

/** Opens the queue in a file. */
export async function openFile(command: string, from: string | undefined, isReadOnly: boolean): Promise<DeliveryQueue> {
  const file = existingFile(command, from);
  const queue = sqliteTool(file, isReadOnly);
  try {
    await queue.open();
  } catch (error) {
    if (!(error as Error).message.endsWith(OPEN_ELSEWHERE)) throw error;
    const advice = isReadOnly ? 'stop it, or run the command on a backup' : 'stop it first';
    throw new Error(`${command}: the application has ${file} open; ${advice}`, { cause: error });
  }
  return queue;
}

async function openStore(command: string, url: string, prefix: string | undefined): Promise<DeliveryQueue> {
  const queue = storeQueue(command, 'store', url, prefix);
  await queue.open();
  return queue;
}
