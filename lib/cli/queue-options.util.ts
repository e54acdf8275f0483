import { statSync } from 'node:fs';

import { errorMessage } from '../client/error.util.js';
import { OptionsError } from '../common/options.error.js';
import { QueueUnavailableError } from '../common/relay.errors.js';
import { createBullmqQueue } from '../stores/redis/bullmq.queue.js';
import { toPostgresOptions } from '../stores/postgres/postgres.options.js';
import { createPostgresQueue } from '../stores/postgres/postgres.queue.js';
import { toBullmqOptions } from '../stores/redis/redis.options.js';
import type { SharedQueue } from '../stores/shared/shared.queue.js';
import type { DeliveryQueue } from '../webhook-destination/queue/delivery.queue.js';
import { OPEN_ELSEWHERE } from '../stores/sqlite/sqlite-fault.util.js';
import { sqliteTool } from '../stores/sqlite/sqlite.queue.js';
import { argumentFault } from './command.util.js';

/** The default of `--from`. */
export const DEFAULT_FILE = './data/relay.db';

/** Options of every command that reads or changes a queue. */
export const QUEUE_OPTIONS = {
  from: { type: 'string' },
  store: { type: 'string' },
  prefix: { type: 'string' },
} as const;

/** Usage of {@link QUEUE_OPTIONS}. */
export const QUEUE_USAGE = `  --from <file>         the SQLite file; no application may have it open; default: ${DEFAULT_FILE}
  --store <url>         use a queue on Redis or PostgreSQL: redis://, rediss:// or postgres://; it may be in use
  --prefix <name>       prefix of the queue on Redis or PostgreSQL; default: relay`;

/**
 * Opens the queue that the options name, runs the work, then closes the queue.
 *
 * @param isReadOnly whether a SQLite file must stay unchanged
 */
export async function withQueue<T>(
  { from, store, prefix }: { from?: string; store?: string; prefix?: string },
  isReadOnly: boolean,
  work: (queue: DeliveryQueue) => Promise<T>,
): Promise<T> {
  if (store !== undefined && from !== undefined) throw argumentFault('--from and --store cannot be combined');
  if (store === undefined && prefix !== undefined) throw argumentFault('--prefix requires --store');
  const queue = store === undefined ? await openFile(from, isReadOnly) : storeQueue('store', store, prefix);
  try {
    if (store !== undefined) await queue.open();
    return await work(queue);
  } finally {
    await queue.close();
  }
}

/**
 * Returns a queue on Redis or PostgreSQL from the URL in an option.
 *
 * @param creates whether opening it creates or updates what it needs in the store; otherwise it must be there
 */
export function storeQueue(option: string, url = '', prefix: string | undefined, creates = false): SharedQueue {
  const [, scheme] = /^(redis|rediss|postgres|postgresql):\/\//.exec(url) ?? [];
  if (scheme === undefined || !URL.canParse(url)) {
    throw argumentFault(
      `--${option} must be the URL of a Redis (redis://, rediss://) or a PostgreSQL (postgres://) server`,
    );
  }
  const given = { connection: url, prefix };
  try {
    if (scheme.startsWith('postgres')) return createPostgresQueue(toPostgresOptions({ ...given, migrate: creates }));
    return createBullmqQueue({ ...toBullmqOptions(given), mustExist: !creates });
  } catch (error) {
    throw argumentFault(optionFault(error, option));
  }
}

/**
 * Returns the fault of options of a queue with the names of the command's options.
 *
 * @param option the one in place of `connection`
 * @throws any other error
 */
export function optionFault(error: unknown, option: string): string {
  if (!(error instanceof OptionsError)) throw error;
  return error.faults.map((fault) => `--${fault.replace(/^connection\b/, option)}`).join('; ');
}

/** Returns the file of a SQLite queue. Commands never create one. */
export function existingFile(file = DEFAULT_FILE): string {
  if (file.includes('://')) {
    throw argumentFault('--from must be a SQLite file; stats, dead and replay take the URL of a queue with --store');
  }
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw argumentFault(`${file} does not exist; set --from to the SQLite file`);
  if (found.isDirectory()) throw argumentFault(`${file} is a folder; set --from to the SQLite file in it`);
  if (found.size === 0) throw argumentFault(`${file} is empty; set --from to the SQLite file`);
  return file;
}

export async function openFile(from: string | undefined, isReadOnly: boolean): Promise<DeliveryQueue> {
  const file = existingFile(from);
  const queue = sqliteTool(file, isReadOnly);
  try {
    await queue.open();
  } catch (error) {
    if (!errorMessage(error).endsWith(OPEN_ELSEWHERE)) throw error;
    const advice = isReadOnly ? 'stop it, or run the command on a backup' : 'stop it first';
    throw new QueueUnavailableError(`the application has ${file} open; ${advice}`, { cause: error });
  }
  return queue;
}
