import type { DeliveryQueueFactory } from '../delivery-queue.interface.js';
import { EmbeddedQueue } from '../embedded/embedded.queue.js';
import { type RetentionOptions, toRetention } from '../retention.options.js';
import { SqliteStore } from './sqlite.store.js';

/** Options of {@link sqliteQueue}. */
export interface SqliteQueueOptions {
  /**
   * The database file; missing folders are made. One process at a time can open it.
   * @default './data/relay.db'
   */
  path?: string;
  /** How long records of ended deliveries are kept. */
  retention?: RetentionOptions;
}

/**
 * The embedded queue: a SQLite file in WAL mode, synced at each commit, so that what it took survives a crash.
 * It needs no service. `open` rejects when the file is open already.
 * @throws {Error} that names the option at fault
 */
export function sqliteQueue({ path = './data/relay.db', retention }: SqliteQueueOptions = {}): DeliveryQueueFactory {
  if (typeof path !== 'string' || path === '') throw new Error('sqliteQueue: path must be a non-empty string');
  const bounds = toRetention('sqliteQueue', retention);
  return () => new EmbeddedQueue(new SqliteStore(path, bounds.messageIds), bounds);
}
