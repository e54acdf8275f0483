import type { DeliveryQueueFactory } from 'nestjs-analytics-relay';
import { bullmqQueue, type BullmqQueueOptions } from 'nestjs-analytics-relay/bullmq';
import { postgresQueue, type PostgresQueueOptions } from 'nestjs-analytics-relay/postgres';

/** Options of a queue in one of the stores that processes share. */
export type SharedQueueOptions =
  (BullmqQueueOptions & { backend?: undefined }) | (PostgresQueueOptions & { backend: 'postgres' });

const PACKAGE = { bullmqQueue, postgresQueue };

/** A queue in the store that the options name, by this copy of the package. */
export function sharedQueue({ backend, ...options }: SharedQueueOptions, copy = PACKAGE): DeliveryQueueFactory {
  return backend === 'postgres' ? copy.postgresQueue(options) : copy.bullmqQueue(options);
}
