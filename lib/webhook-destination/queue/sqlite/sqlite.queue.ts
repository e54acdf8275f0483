import type { DeliveryQueueFactory } from '../delivery-queue.interface.js';
import { EmbeddedQueue } from '../embedded/embedded.queue.js';
import { SqliteStore } from './sqlite.store.js';

/** Options of {@link sqliteQueue}. */
export interface SqliteQueueOptions {
  /**
   * The database file; missing folders are made. One process at a time can open it.
   * @default './data/relay.db'
   */
  path?: string;
}

/**
 * The embedded queue: a SQLite file in WAL mode, synced at each commit, so that what it took survives a crash.
 * It needs no service. `open` rejects when another process has the file open.
 */
export function sqliteQueue({ path = './data/relay.db' }: SqliteQueueOptions = {}): DeliveryQueueFactory {
  if (typeof path !== 'string' || path === '') throw new Error('sqliteQueue: path must be a non-empty string');
  return () => new EmbeddedQueue(new SqliteStore(path));
}
