import type Database from 'libsql';

import { QueueUnavailableError } from '../../../common/relay.errors.js';
import { CHECKPOINT_PAGES } from './sqlite-log.js';
import { PAGE_SIZE, readPragma } from './sqlite-pages.js';
import { restrictAccess } from './file-access.util.js';
import { APPLICATION_ID, MIGRATIONS } from './sqlite.schema.js';

/** Size in bytes to which a larger log is cut once it has been copied. */
const LOG_SIZE = 64 * 1024 * 1024;

/** Memory for pages of the file, in KiB. */
const CACHE_KIB = 16_384;

/** Value of `auto_vacuum` in a file that can release free pages. */
const INCREMENTAL = 2;

const OLDEST = MIGRATIONS[0].layout;
const NEWEST = MIGRATIONS[MIGRATIONS.length - 1]!.layout;

/** Tables and indexes of the last layout without an `application_id`. */
const UNMARKED_OBJECTS = 'accepted batch batch_state delivery delivery_due delivery_ended delivery_state outcome'.split(
  ' ',
);

/**
 * Locks an open file, and migrates it to the newest layout.
 *
 * @param path where SQLite keeps the file
 * @param isReadOnly whether to change nothing: everything that follows is in a transaction that is never committed
 * @throws {QueueUnavailableError} for a file that is open elsewhere, or that is not a readable queue
 */
export function prepare(db: Database.Database, path: string, isReadOnly: boolean): void {
  // Has no effect on an existing file.
  db.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
  // Exclusive locking keeps other processes out until this one ends, however it ends.
  db.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${CACHE_KIB}`);
  db.exec('BEGIN IMMEDIATE');
  const layout = layoutOf(db);
  checkLayout(layout);
  if (isReadOnly) return migrate(db, layout);
  db.exec('ROLLBACK');
  // Not before: until now, the file might have belonged to another application.
  restrictAccess(path);
  // `auto_vacuum` must precede the first page. `secure_delete` clears deleted data from freed pages.
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = ON');
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // So that pages that change often are copied into the file once for many commits.
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_SIZE}`);
  db.exec('BEGIN IMMEDIATE');
  migrate(db, layout);
  db.exec('COMMIT');
  if (readPragma(db, 'auto_vacuum') === INCREMENTAL) return;
  // The free pages of a file from an earlier version cannot be released, and hold deleted data. To rewrite it takes free
  // disk space of twice its size.
  db.exec('PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = DEFAULT');
}

/**
 * Returns the layout of a file, 0 if it is empty. Only reads.
 * @throws {QueueUnavailableError} for the file of another application
 */
export function layoutOf(db: Database.Database): number {
  const version = readPragma(db, 'user_version');
  const applicationId = readPragma(db, 'application_id');
  if (applicationId === APPLICATION_ID) return version;
  const names = `SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`;
  const objects = (db.prepare(names).all() as { name: string }[]).map(({ name }) => name);
  const isUnmarked = applicationId === 0;
  if (isUnmarked && version === 0 && objects.length === 0) return 0;
  if (isUnmarked && version === OLDEST && objects.join() === UNMARKED_OBJECTS.join()) return version;
  const isKnown = objects.includes('delivery') && objects.every((name) => UNMARKED_OBJECTS.includes(name));
  if (isUnmarked && version > 0 && version < OLDEST && isKnown) return version;
  throw new QueueUnavailableError('the file is a database of another application; use another file');
}

/** @throws {QueueUnavailableError} for a layout that cannot be read */
function checkLayout(layout: number): void {
  if (layout > NEWEST) {
    throw new QueueUnavailableError(
      `the file has layout ${layout}, from a newer version of nestjs-analytics-relay; this version reads layouts up to ` +
        `${NEWEST}: install the newer version, or use another file`,
    );
  }
  if (layout > 0 && layout < OLDEST) {
    throw new QueueUnavailableError(
      `the file has layout ${layout}, from before the first release of nestjs-analytics-relay; this version reads ` +
        `layouts from ${OLDEST} on: remove the file, or use another one`,
    );
  }
}

/** Migrates a file from a readable layout to the newest one, within the current transaction. */
export function migrate(db: Database.Database, layout: number): void {
  if (layout === NEWEST) return;
  for (const step of MIGRATIONS) if (step.layout > layout) step.up(db);
  db.exec(`PRAGMA user_version = ${NEWEST}`);
}

/** Writes to a prepared file without changing it. */
export function rewriteLayout(db: Database.Database): void {
  db.exec(`PRAGMA user_version = ${NEWEST}`);
}
