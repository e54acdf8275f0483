import type Database from 'libsql';

import { checkLayout, layoutOf, migrate } from './sqlite.layout.js';
import { CHECKPOINT_PAGES } from './sqlite.log.js';
import { PAGE_SIZE } from './sqlite.pages.js';
import { restrictAccess } from './sqlite.place.js';

/** Bytes that the log keeps on disk once it is copied, where it has grown beyond. */
const LOG_SIZE = 64 * 1024 * 1024;

/** Memory for pages of the file. */
const CACHE_KIB = 16_384;

/** Value of `auto_vacuum` in a file that can give free pages back. */
const INCREMENTAL = 2;

/**
 * Locks a file that was opened, and brings it up to the newest layout.
 *
 * @param path where SQLite keeps the file
 * @param isReadOnly whether nothing is to change: all that follows is then in a transaction that is never committed
 * @throws {Error} for a file that is open elsewhere, or that is no queue that can be read
 */
export function prepare(db: Database.Database, path: string, isReadOnly: boolean): void {
  // Has no effect on a file that is there.
  db.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
  // Exclusive locking keeps other processes out until this one ends, however it ends.
  db.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${CACHE_KIB}`);
  db.exec('BEGIN IMMEDIATE');
  const layout = layoutOf(db);
  checkLayout(layout);
  if (isReadOnly) return migrate(db, layout);
  db.exec('ROLLBACK');
  // Only now is it known to be a file that may be changed.
  restrictAccess(path);
  // The first has an effect before there is a page. With the second, freed pages hold nothing of what was deleted.
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = ON');
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // Pages that change often are copied into the file once for many commits.
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_SIZE}`);
  db.exec('BEGIN IMMEDIATE');
  migrate(db, layout);
  db.exec('COMMIT');
  makeShrinkable(db);
}

/**
 * Writes a file anew that an earlier version has made: its free pages cannot be given back, and hold what was deleted.
 * That takes free space of twice its size.
 */
function makeShrinkable(db: Database.Database): void {
  const [row] = db.pragma('auto_vacuum') as [{ auto_vacuum: number }];
  if (row.auto_vacuum !== INCREMENTAL) db.exec('PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = DEFAULT');
}
