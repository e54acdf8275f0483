/** Rows that one statement changes, so that it holds few locks. */
export const PORTION = 1_000;

/** Duration from which on a scan of rows that were changed is expensive, in ms. */
const EXPENSIVE = 50;

/** Wait between two expensive scans, as a multiple of the time that one takes. */
const REST_SHARE = 50;

/** Maximum wait between two scans, in ms: one that was held up by a lock took longer than it costs. */
const MAX_REST = 10_000;

/**
 * Returns how long to wait before a scan is repeated that took `duration` ms. While a long transaction keeps rows from
 * being vacuumed, a scan reads all that were changed since; with the wait, scans take at most 2 % of the time.
 */
export function restAfter(duration: number): number {
  return duration < EXPENSIVE ? 0 : Math.min(duration * REST_SHARE, MAX_REST);
}

/** A statement that each connection prepares once. */
export interface Statement {
  name: string;
  text: string;
}

/** Runs statements in the schema of one queue. */
export abstract class StatementRunner {
  /** The schema, quoted. */
  abstract readonly schema: string;

  /** Runs a prepared statement, or a text without preparing it. */
  abstract query<Row>(statement: Statement | string, values?: unknown[]): Promise<Row[]>;

  /** Repeats a statement that changes at most {@link PORTION} rows until it changes fewer; resolves with their number. */
  async repeat<Row>(text: string, values: unknown[], onRows?: (rows: Row[]) => void): Promise<number> {
    for (let count = 0; ;) {
      const rows = await this.query<Row>(text, values);
      onRows?.(rows);
      count += rows.length;
      if (rows.length < PORTION) return count;
    }
  }
}
