import type { DeliveryQueueFactory } from '../delivery-queue.interface.js';
import { BullmqStore } from '../bullmq/bullmq.store.js';
import { type BullmqQueueOptions, type SharedQueueOptions, toBullmqOptions } from './shared-queue.options.js';
import type { SharedQueue } from './shared-queue.interface.js';
import { SharedStoreQueue } from './shared-store.queue.js';
import { concealClient } from './store-errors.util.js';
import { PostgresDatabase } from '../postgres/postgres.database.js';
import { PostgresStore } from '../postgres/postgres.store.js';

/**
 * Creates a queue that many processes share: on Redis, a BullMQ queue for each destination; on PostgreSQL, tables.
 * Needs `bullmq` and `ioredis`, or `pg`; `open` rejects when a package is missing or the store cannot be reached.
 * @throws {OptionsError} that names the option at fault
 */
export function bullmqQueue(options: BullmqQueueOptions): DeliveryQueueFactory {
  const checked = toBullmqOptions(options);
  return Object.assign(() => createSharedQueue(checked), { isShared: true });
}

/**
 * Creates or updates the tables of a queue on PostgreSQL, for processes that lack the permission to do so themselves.
 * Redis needs no migration. Rejects when the store cannot be reached.
 * @throws {OptionsError} that names the option at fault
 */
export async function migrateBullmqQueue(options: BullmqQueueOptions): Promise<void> {
  const queue = bullmqQueue({ ...options, migrate: true })();
  await queue.open();
  await queue.close();
}

/** @internal */
export function createSharedQueue(options: SharedQueueOptions): SharedQueue {
  const queue = createEngine(options);
  const { registry, series, peers, due$ } = queue;
  let isOpen = false;
  const conceal = <T extends object>(object: T): T =>
    concealClient(object, options.backend === 'postgres' ? 'PostgreSQL' : 'Redis', () => isOpen);
  const concealed = conceal(queue);
  return {
    ...concealed,
    // Says itself why it fails.
    open: async () => {
      await queue.open();
      isOpen = true;
    },
    close: () => {
      isOpen = false;
      return concealed.close();
    },
    registry: Object.assign(conceal(registry), { changed$: registry.changed$ }),
    series: series && conceal(series),
    peers: peers && Object.assign(conceal(peers), { received$: peers.received$ }),
    due$,
  };
}

function createEngine(options: SharedQueueOptions): SharedQueue {
  const store =
    options.backend === 'redis'
      ? new BullmqStore(options)
      : new PostgresStore(new PostgresDatabase(options), options.retention.messageIds);
  return new SharedStoreQueue(store, options.retention);
}
