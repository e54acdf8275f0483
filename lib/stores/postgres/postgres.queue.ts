import type { DeliveryQueueFactory } from '../../webhook-destination/queue/delivery.queue.js';
import { SharedQueue, sharedQueueFactory } from '../shared/shared.queue.js';
import { PostgresDatabase } from './postgres.database.js';
import { type CheckedPostgresOptions, type PostgresQueueOptions, toPostgresOptions } from './postgres.options.js';
import { PostgresStore } from './postgres.store.js';

/**
 * Creates a queue in tables of PostgreSQL that many processes share. Needs `pg`; `open` rejects when it is missing or
 * PostgreSQL cannot be reached.
 * @throws {OptionsError} that names the option at fault
 */
export function postgresQueue(options: PostgresQueueOptions): DeliveryQueueFactory {
  const checked = toPostgresOptions(options);
  return sharedQueueFactory(() => createPostgresQueue(checked));
}

/**
 * Creates or updates the tables of a queue, for processes that lack the permission to do so themselves. Rejects when
 * PostgreSQL cannot be reached.
 * @throws {OptionsError} that names the option at fault
 */
export async function migratePostgresQueue(options: PostgresQueueOptions): Promise<void> {
  const queue = postgresQueue({ ...options, migrate: true })();
  await queue.open();
  await queue.close();
}

/** @internal */
export function createPostgresQueue(options: CheckedPostgresOptions): SharedQueue {
  const store = new PostgresStore(new PostgresDatabase(options), options.retention.messageIds);
  return new SharedQueue(store, options.retention, 'PostgreSQL');
}
