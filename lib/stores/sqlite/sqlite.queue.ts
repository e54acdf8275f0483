import { statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { IfGiven, Must } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { DeliveryQueue, type DeliveryQueueFactory } from '../../webhook-destination/queue/delivery.queue.js';
import {
  QueueOptions,
  type RetentionOptions,
  toQueueOptions,
} from '../../webhook-destination/queue/retention.options.js';
import { SqliteStore } from './sqlite.store.js';

/** Options of {@link sqliteQueue}. */
export interface SqliteQueueOptions {
  /**
   * The database file; missing folders are created. One process at a time can open it.
   * @default './data/relay.db'
   */
  path?: string;
  /** How long records of ended deliveries are kept. Default: the default of each kind of record. */
  retention?: RetentionOptions;
  /**
   * Size in bytes from which new messages are refused: ingest answers `503`, and in-process recording retries. The size
   * includes the pages in use and the write-ahead log beside the file, about 8 MiB. Deliveries, sweeps and deletions
   * continue, and messages are accepted again below the limit. The last group of messages may exceed it. A whole
   * number, 16,777,216 (16 MiB) or above.
   * @default no limit
   */
  maxBytes?: number;
}

/** Default of `retention.delivered.bytes`, in bytes, and as a share of the disk and of `maxBytes`. */
const DELIVERED_BYTES = 5_000_000_000;
const DELIVERED_SHARE = 1 / 4;

/** Minimum of `maxBytes`: twice the usual size of the log. */
const MIN_BYTES = 16 * 1024 * 1024;

class SqliteOptions extends QueueOptions {
  @Must('be a non-empty string without NUL characters', (value) => isNonEmptyString(value) && !value.includes('\0'))
  @Must("not be ':memory:'; for a queue in memory, use memoryQueue()", (value) => value !== ':memory:')
  path: string = './data/relay.db';

  @IfGiven()
  @Must(
    `be a whole number, ${MIN_BYTES} (16 MiB) or above`,
    (value) => Number.isSafeInteger(value) && (value as number) >= MIN_BYTES,
  )
  maxBytes: number | undefined = undefined;
}

/**
 * Creates the embedded queue: a SQLite file in WAL mode, synced at each commit, so that accepted messages survive a
 * crash. It needs no other service. It uses `node:sqlite` of Node 22.13 and later; Node 20 needs the package `libsql`:
 * `npm install libsql@0.5`. `open` rejects when that is missing, or when the file is already open, belongs to another
 * application, cannot be written, or has the layout of another version.
 * @throws {OptionsError} that names the option at fault
 */
export function sqliteQueue(options: SqliteQueueOptions = {}): DeliveryQueueFactory {
  const { path, maxBytes, retention } = toQueueOptions('sqliteQueue', SqliteOptions, options, (checked) => {
    // Records that fill the file would have new messages refused.
    const room = Math.min(sizeOfDisk(checked.path), checked.maxBytes ?? Infinity);
    return Math.min(DELIVERED_BYTES, Math.floor(room * DELIVERED_SHARE));
  });
  const { messageIds } = retention;
  return () => new DeliveryQueue(new SqliteStore(path, { messageIds, maxBytes }), retention);
}

/** Returns the size of the disk that a file is or will be on, in bytes; infinite if that cannot be known. */
function sizeOfDisk(path: string): number {
  try {
    const { blocks, bsize } = statfsSync(path);
    return blocks * bsize;
  } catch {
    const parent = dirname(resolve(path));
    return parent === path ? Infinity : sizeOfDisk(parent);
  }
}

/** Keeps every record. */
const MAX = Number.MAX_SAFE_INTEGER;
const UNBOUNDED = { age: MAX, count: MAX, bytes: MAX };

/**
 * Creates a queue for a tool. It removes no record for its age or number: the application's retention is not known.
 *
 * @param isReadOnly whether it only lists and counts: it locks the file, but changes nothing in it
 * @internal
 */
export function sqliteTool(path: string, isReadOnly: boolean): DeliveryQueue {
  const bounds = { delivered: UNBOUNDED, dead: UNBOUNDED, messageIds: UNBOUNDED, refused: UNBOUNDED };
  return new DeliveryQueue(new SqliteStore(path, { messageIds: UNBOUNDED, isReadOnly }), bounds);
}
