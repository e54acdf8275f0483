import type Database from 'libsql';

import { APPLICATION_ID, MIGRATIONS } from './sqlite.schema.js';

const OLDEST = MIGRATIONS[0].layout;
const NEWEST = MIGRATIONS[MIGRATIONS.length - 1]!.layout;

/** Tables and indexes of the last layout without an `application_id`. */
const UNMARKED_OBJECTS = 'accepted batch batch_state delivery delivery_due delivery_ended delivery_state outcome'.split(
  ' ',
);

/**
 * The layout of a file, 0 when nothing is in it yet. Reads only.
 * @throws {Error} for the file of another application
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
  throw new Error('the file is a database of another application; use another file');
}

/** @throws {Error} for a layout that cannot be read */
export function checkLayout(layout: number): void {
  if (layout > NEWEST) {
    throw new Error(
      `the file has layout ${layout}, from a newer version of nestjs-analytics-relay; this version reads layouts up to ` +
        `${NEWEST}: install the newer version, or use another file`,
    );
  }
  if (layout > 0 && layout < OLDEST) {
    throw new Error(
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

function pragma(db: Database.Database, name: string): number {
  const [row] = db.pragma(name) as [Record<string, number>];
  return row[name]!;
}
