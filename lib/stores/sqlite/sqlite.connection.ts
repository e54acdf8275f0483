import { createRequire } from 'node:module';

/** A prepared statement. A parameter must not be undefined. */
interface SqliteStatement {
  run(...parameters: unknown[]): { changes: number };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  iterate(...parameters: unknown[]): Iterable<unknown>;
}

/** An open file, as both drivers have it: `node:sqlite`, and `libsql` for a Node that lacks the former. */
export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

type Driver = new (path: string) => SqliteConnection;

/** @param libsql the file from which `libsql` is required; without it, the driver is `node:sqlite` */
export function connect(path: string, libsql: string | undefined): SqliteConnection {
  const Driver = libsql === undefined ? loadBuiltin() : (createRequire(libsql)('libsql') as Driver);
  return new Driver(path);
}

/** Returns a text that names the version of SQLite and the driver. */
export function engineOf(db: SqliteConnection, libsql: string | undefined): string {
  const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  return `SQLite ${version} (${libsql === undefined ? 'node:sqlite' : 'libsql'})`;
}

/** Returns the value of a pragma, which is a number. */
export function readPragma(db: SqliteConnection, name: string): number {
  return (db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[name]!;
}

/** Loads `node:sqlite` without the warning of Node 22 and 24 that it is experimental. */
function loadBuiltin(): Driver {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return (process.getBuiltinModule('node:sqlite') as { DatabaseSync: Driver }).DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}
