import type { EndedState } from '../../webhook-destination/queue/retention.options.js';
import type { CountedRecords } from '../../webhook-destination/queue/retention-bound.util.js';
import { decodeText } from './delivery.codec.js';
import type { StatementRunner } from './statement-runner.js';

/** What a record takes besides its body and attempts, in bytes: the other columns and the indexes. */
const RECORD_BYTES = 500;

/** Rows of counts that are added up with one statement. */
const FOLDED = 50_000;

/** Columns from which {@link addCounts} counts, to be returned by the statement that ends or removes records. */
export const counted = (row: string) =>
  `${row}.destination, ${row}.state, octet_length(${row}.body) + coalesce(octet_length(${row}.attempts), 0) + ${RECORD_BYTES} AS bytes`;

/**
 * SQL that counts records of ended deliveries in, or out, in the statement that ends or removes them. It locks no row, so
 * statements of other processes do not wait.
 *
 * @param rows name of a query with the columns of {@link counted}
 */
export function addCounts(schema: string, rows: string, sign: '' | '-'): string {
  return `INSERT INTO ${schema}.relay_count (destination, state, count, bytes)
    SELECT destination, state, ${sign}count(*), ${sign}sum(bytes) FROM ${rows} WHERE state IN ('delivered', 'dead') GROUP BY destination, state`;
}

/** SQL for the number and size of the records of each destination in a state. */
export function countsIn(schema: string, state: EndedState): string {
  return `SELECT destination, sum(count)::float8 AS count, sum(bytes)::float8 AS bytes FROM ${schema}.relay_count
    WHERE state = '${state}' GROUP BY destination HAVING sum(count) > 0`;
}

/** Reads the number and size of the records of each destination in a state. */
export async function readCounts(database: StatementRunner, state: EndedState): Promise<CountedRecords[]> {
  const rows = await database.query<CountedRecords>(countsIn(database.schema, state));
  return rows.map((row) => ({ ...row, destination: decodeText(row.destination) }));
}

/**
 * Replaces the rows of counts by their sums, until few are left: busy destinations add more of them between two sweeps
 * than one statement adds up. Those that another process is adding up are skipped.
 */
export async function foldCounts(database: StatementRunner): Promise<void> {
  const table = `${database.schema}.relay_count`;
  const fold = `
    WITH found AS MATERIALIZED (SELECT ctid FROM ${table} LIMIT ${FOLDED} FOR UPDATE SKIP LOCKED),
     folded AS (DELETE FROM ${table} c USING found WHERE c.ctid = found.ctid RETURNING c.*),
     sums AS (
       INSERT INTO ${table} SELECT destination, state, sum(count), sum(bytes) FROM folded GROUP BY destination, state
       HAVING sum(count) <> 0 OR sum(bytes) <> 0 RETURNING 1)
     SELECT (SELECT count(*) FROM folded)::float8 AS folded, (SELECT count(*) FROM sums)::float8 AS sums`;
  for (;;) {
    const [row] = await database.query<{ folded: number; sums: number }>(fold);
    // Sums that are hardly fewer than their rows are those of as many destinations.
    if (row!.folded < FOLDED || row!.sums > row!.folded / 2) return;
  }
}
