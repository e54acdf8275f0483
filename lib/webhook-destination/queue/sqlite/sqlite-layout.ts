import type Database from 'libsql';

import { QueueUnavailableError } from '../../../common/relay.errors.js';
import { CHECKPOINT_PAGES } from './sqlite-log.js';
import { PAGE_SIZE } from './sqlite-pages.js';
import { restrictAccess } from './sqlite-file.util.js';
import { APPLICATION_ID, MIGRATIONS } from './sqlite.schema.js';

/** Bytes that the log keeps on disk once it is copied, where it has grown beyond. */
const LOG_SIZE = 64 * 1024 * 1024;

/** Memory for pages of the file. */
const CACHE_KIB = 16_384;

/** Value of `auto_vacuum` in a file that can give free pages back. */
const INCREMENTAL = 2;

const OLDEST = MIGRATIONS[0].layout;
const NEWEST = MIGRATIONS[MIGRATIONS.length - 1]!.layout;

/** Tables and indexes of the last layout without an `application_id`. */
const UNMARKED_OBJECTS = 'accepted batch batch_state delivery delivery_due delivery_ended delivery_state outcome'.split(
  ' ',
);

/**
 * Locks a file that was opened, and brings it up to the newest layout.
 *
 * @param path where SQLite keeps the file
 * @param isReadOnly whether nothing is to change: all that follows is then in a transaction that is never committed
 * @throws {QueueUnavailableError} for a file that is open elsewhere, or that is no queue that can be read
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
  if (pragma(db, 'auto_vacuum') === INCREMENTAL) return;
  db.exec('PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = DEFAULT');
}

/**
 * The layout of a file, 0 when nothing is in it yet. Reads only.
 * @throws {QueueUnavailableError} for the file of another application
 */
export function layoutOf(db: Database.Database): number {
  const version = pragma(db, 'user_version');
  const applicationId = pragma(db, 'application_id');
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

/** Brings a file of a layout that can be read up to the newest one, within the transaction under way. */
export function migrate(db: Database.Database, layout: number): void {
  if (layout === NEWEST) return;
  for (const step of MIGRATIONS) if (step.layout > layout) step.up(db);
  db.exec(`PRAGMA user_version = ${NEWEST}`);
}

/** Writes to a file that was prepared, without a change. */
export function rewriteLayout(db: Database.Database): void {
  db.exec(`PRAGMA user_version = ${NEWEST}`);
}

function pragma(db: Database.Database, name: string): number {
  const [row] = db.pragma(name) as [Record<string, number>];
  return row[name]!;
}
