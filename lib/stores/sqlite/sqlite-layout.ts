import { readPragma, type SqliteConnection } from './sqlite.connection.js';

import { QueueUnavailableError } from '../../common/relay.errors.js';
import { CHECKPOINT_PAGES } from './sqlite-log.js';
import { PAGE_SIZE } from './sqlite-pages.js';
import { restrictAccess } from './file-access.util.js';
import { APPLICATION_ID, LAYOUT, SCHEMA } from './sqlite.schema.js';

/** Size in bytes to which a larger log is cut once it has been copied. */
const LOG_SIZE = 64 * 1024 * 1024;

/** Memory for pages of the file, in KiB. */
const CACHE_KIB = 16_384;

/**
 * Locks an open file, and creates the tables in a new one.
 *
 * @param path where SQLite keeps the file
 * @param isReadOnly whether to change nothing: everything that follows is in a transaction that is never committed
 * @throws {QueueUnavailableError} for a file that is open elsewhere, or that is not a readable queue
 */
export function prepare(db: SqliteConnection, path: string, isReadOnly: boolean): void {
  // Has no effect on an existing file.
  db.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
  // Exclusive locking keeps other processes out until this one ends, however it ends.
  db.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${CACHE_KIB}`);
  db.exec('BEGIN IMMEDIATE');
  const isNew = isEmpty(db);
  if (isReadOnly) {
    if (isNew) db.exec(SCHEMA);
    return;
  }
  db.exec('ROLLBACK');
  // Not before: until now, the file might have belonged to another application.
  restrictAccess(path);
  // `secure_delete` clears deleted data from freed pages. `auto_vacuum` takes effect with the `VACUUM` of a new file.
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = ON');
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // So that pages that change often are copied into the file once for many commits.
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_SIZE}`);
  if (isNew) db.exec(`BEGIN IMMEDIATE; ${SCHEMA}; COMMIT; VACUUM`);
}

/**
 * Returns whether a file has no tables yet. Only reads.
 * @throws {QueueUnavailableError} for the file of another application, or of a version with another layout
 */
export function isEmpty(db: SqliteConnection): boolean {
  const layout = readPragma(db, 'user_version');
  const applicationId = readPragma(db, 'application_id');
  if (applicationId !== APPLICATION_ID) {
    const { objects } = db.prepare('SELECT count(*) AS objects FROM sqlite_schema').get() as { objects: number };
    if (applicationId === 0 && layout === 0 && objects === 0) return true;
    throw new QueueUnavailableError('the file is a database of another application; use another file');
  }
  if (layout === LAYOUT) return false;
  throw new QueueUnavailableError(
    `the file has layout ${layout}, from another version of nestjs-analytics-relay; this version reads layout ${LAYOUT}: ` +
      'install the version that wrote it, or use another file',
  );
}

/** Writes to a prepared file without changing it. */
export function rewriteLayout(db: SqliteConnection): void {
  db.exec(`PRAGMA user_version = ${LAYOUT}`);
}
