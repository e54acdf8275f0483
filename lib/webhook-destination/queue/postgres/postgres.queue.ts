import type { CheckedBullmqOptions } from '../shared/shared-queue.options.js';
import type { SharedQueue, TakenDelivery } from '../shared/shared-queue.interface.js';
import { StoreQueue } from '../store/store.queue.js';
import { PostgresStore } from './postgres.store.js';

/** The queue in PostgreSQL tables that many processes share. */
export class PostgresQueue extends StoreQueue implements SharedQueue {
  private readonly postgres: PostgresStore;

  constructor(options: CheckedBullmqOptions) {
    const store = new PostgresStore(options);
    super(store, options.retention);
    this.postgres = store;
  }

  takeOver(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    return this.postgres.take(deliveries);
  }
}
