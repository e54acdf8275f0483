/**
 * The queue in tables of PostgreSQL.
 *
 * @module nestjs-analytics-relay/postgres
 */

export type { PostgresQueueOptions } from '../stores/postgres/postgres.options.js';
export { migratePostgresQueue, postgresQueue } from '../stores/postgres/postgres.queue.js';
