import { within } from '../../common/time.util.js';
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
  private readonly limit = Math.min(MAX_RUNNING, Math.max(1, this.database.maxConnections - LEFT));
  private running = 0;
  /** Start those that wait, in their order. */
  private readonly waiting = new Set<() => void>();

  constructor(private readonly database: PostgresDatabase) {
    super();
  }

  /** As `PostgresDatabase.query`. Rejects after {@link QUERY_TIMEOUT} if it could not begin by then. */
  async query<Row>(statement: Statement | string, values?: unknown[]): Promise<Row[]> {
    await this.begin();
    try {
      return await this.database.query<Row>(statement, values);
    } finally {
      this.end();
    }
  }

  /** As `PostgresDatabase.pause`. */
  pause(time: number): Promise<void> {
    return this.database.pause(time);
  }

  private async begin(): Promise<void> {
    if (this.running < this.limit) {
      this.running++;
      return;
    }
    let start!: () => void;
    const started = new Promise<void>((resolve) => (start = resolve));
    this.waiting.add(start);
    try {
      await within(QUERY_TIMEOUT, started, 'waiting for other searches and deletions');
    } catch (error) {
      if (!this.waiting.delete(start)) this.end();
      throw error;
    }
  }

  private end(): void {
    const [next] = this.waiting;
    if (!next) {
      this.running--;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
