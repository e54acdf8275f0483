import { IfGiven, Must } from '../../../common/options.rules.js';
import { isNonEmptyString } from '../../../common/value.util.js';
import type { DeliveryQueue, DeliveryQueueFactory } from '../delivery-queue.interface.js';
import { StoreQueue } from '../store/store.queue.js';
import { QueueOptions, type RetentionBound, type RetentionOptions, toQueueOptions } from '../retention.options.js';
import { SqliteStore } from './sqlite.store.js';

/** Options of {@link sqliteQueue}. */
export interface SqliteQueueOptions {
  /**
   * The database file; missing folders are made. One process at a time can open it.
   * @default './data/relay.db'
   */
  path?: string;
  /** How long records of ended deliveries are kept. Default: the default of each kind of record. */
  retention?: RetentionOptions;
  /**
   * Size in bytes from which new messages are refused: ingest answers `503`, and in-process recording tries again. It
   * counts the pages of the file in use and the write-ahead log beside it, some 8 MiB. Deliveries, sweeps and deletions
   * continue, and messages are accepted again below the size. The last group of messages may exceed it. A whole number,
   * 16,777,216 (16 MiB) or above.
   * @default no limit
   */
  maxBytes?: number;
}

/** Least `maxBytes`: twice what the log has most of the time. */
const MIN_BYTES = 16 * 1024 * 1024;

class SqliteOptions extends QueueOptions {
  @Must('be a non-empty string without NUL characters', (value) => isNonEmptyString(value) && !value.includes('\0'))
  path: string = './data/relay.db';

  @IfGiven()
  @Must(
    `be a whole number, ${MIN_BYTES} (16 MiB) or above`,
    (value) => Number.isSafeInteger(value) && (value as number) >= MIN_BYTES,
  )
  maxBytes: number | undefined = undefined;
}

/**
 * The embedded queue: a SQLite file in WAL mode, synced at each commit, so that accepted messages survive a crash.
 * It needs no service. `open` rejects when the file is open already, belongs to another application, or cannot be
 * written; a file of an older layout is migrated, and one of a newer layout refused.
 * @throws {OptionsError} that names the option at fault
 */
export function sqliteQueue(options: SqliteQueueOptions = {}): DeliveryQueueFactory {
  const { path, maxBytes, retention } = toQueueOptions('sqliteQueue', SqliteOptions, options);
  const { messageIds } = retention;
  return () => new StoreQueue(new SqliteStore(path, { messageIds, maxBytes }), retention);
}

/** Keeps every record. */
const UNBOUNDED: Required<RetentionBound> = { age: Number.MAX_SAFE_INTEGER, count: Number.MAX_SAFE_INTEGER };

/**
 * A queue for a tool, which removes no record for its age or number: how long the application keeps them is not known.
 *
 * @param isReadOnly whether it only lists and counts: it locks the file, and changes nothing in it
 * @internal
 */
export function sqliteTool(path: string, isReadOnly: boolean): DeliveryQueue {
  const bounds = { delivered: UNBOUNDED, dead: UNBOUNDED, messageIds: UNBOUNDED };
  return new StoreQueue(new SqliteStore(path, { messageIds: UNBOUNDED, isReadOnly }), bounds);
}
