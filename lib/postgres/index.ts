/**
 * The queue in tables of PostgreSQL.
 *
 * @module nestjs-analytics-relay/postgres
 */

export type { PostgresQueueOptions } from '../webhook-destination/queue/postgres/postgres.options.js';
export { migratePostgresQueue, postgresQueue } from '../webhook-destination/queue/postgres/postgres.queue.js';
