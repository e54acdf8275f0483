import type { DeliveryQueueFactory } from 'nestjs-analytics-relay';
import { bullmqQueue, type BullmqQueueOptions } from 'nestjs-analytics-relay/bullmq';
import { postgresQueue, type PostgresQueueOptions } from 'nestjs-analytics-relay/postgres';

/** Options of a queue in one of the stores that processes share. */
export type SharedQueueOptions =
  (BullmqQueueOptions & { backend?: undefined }) | (PostgresQueueOptions & { backend: 'postgres' });

/** A queue in the store that the options name. */
export function sharedQueue({ backend, ...options }: SharedQueueOptions): DeliveryQueueFactory {
  return backend === 'postgres' ? postgresQueue(options) : bullmqQueue(options);
}
