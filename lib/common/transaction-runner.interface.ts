/**
 * Runs a statement of PostgreSQL, with its parameters in the order of `$1`, `$2` and so on, in one transaction. Resolves
 * with its rows. Each parameter is a string.
 */
export type TransactionRunner = (sql: string, params: unknown[]) => Promise<unknown[]> | unknown[];
