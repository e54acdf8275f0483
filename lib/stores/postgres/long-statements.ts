import { RelayError } from '../../client/relay.error.js';
import { Turns } from '../../common/turns.js';
import { QUERY_TIMEOUT } from './connection-config.js';
import type { PostgresDatabase } from './postgres.database.js';
import { type Statement, StatementRunner } from './statement-runner.js';

/** Maximum number of long statements at a time. */
const MAX_RUNNING = 2;

/** Connections that long statements leave to others, if the pool has more. */
const LEFT = 3;

/**
 * Runs the statements that may take long, such as searches, few at a time: renewals of leases, inserts, claims and
 * settlements find a connection however many there are.
 */
export class LongStatements extends StatementRunner {
  readonly schema = this.database.schema;
  private readonly turns = new Turns(
    Math.min(MAX_RUNNING, Math.max(1, this.database.maxConnections - LEFT)),
    QUERY_TIMEOUT,
    () => new RelayError('timeout', `other searches and deletions took longer than ${QUERY_TIMEOUT / 1_000} s`),
  );

  constructor(private readonly database: PostgresDatabase) {
    super();
  }

  /** As `PostgresDatabase.query`. Rejects after {@link QUERY_TIMEOUT} if it could not begin by then. */
  query<Row>(statement: Statement | string, values?: unknown[]): Promise<Row[]> {
    return this.turns.run(() => this.database.query<Row>(statement, values));
  }

  /** As `PostgresDatabase.pause`. */
  pause(time: number): Promise<void> {
    return this.database.pause(time);
  }
}
