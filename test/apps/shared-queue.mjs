import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';

/** A queue in the store that the options name. */
export function sharedQueue({ backend, ...options }) {
  return backend === 'postgres' ? postgresQueue(options) : bullmqQueue(options);
}
