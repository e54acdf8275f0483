/** Rows that one statement changes, so that it holds few locks. */
export const PORTION = 1_000;

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
