import type { Retention } from '../retention.options.js';
import type { SharedQueue, TakenDelivery } from '../shared/shared-queue.interface.js';
import { StoreQueue } from '../store/store.queue.js';
import type { PostgresStore } from './postgres.store.js';

/** The queue in PostgreSQL that many processes share. */
export class PostgresQueue extends StoreQueue implements SharedQueue {
  constructor(
    private readonly tables: PostgresStore,
    retention: Retention,
  ) {
    super(tables, retention);
  }

  takeOver(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    return this.tables.take(deliveries);
  }
}
