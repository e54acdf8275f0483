import Database from 'libsql';

import { QueueUnavailableError } from '../../../common/relay.errors.js';
import { isFaultOfPlace, reasonOf } from './sqlite-fault.util.js';
import { layoutOf } from './sqlite-layout.js';
import type { CopyCheck } from './sqlite-worker.interface.js';

/** Most problems listed for a damaged file. */
const MAX_PROBLEMS = 3;

/** Puts a copied file and its log together in one file, and checks it. */
function check(path: string): void {
  const db = new Database(path);
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE');
    if (layoutOf(db) === 0) throw new QueueUnavailableError('the file does not contain a queue yet');
    db.exec('PRAGMA journal_mode = DELETE');
    const rows = db.pragma(`integrity_check(${MAX_PROBLEMS})`) as { integrity_check: string }[];
    const problems = rows.map((row) => row.integrity_check).join('; ');
    if (problems !== 'ok') throw new QueueUnavailableError(`the file is damaged (${problems})`);
  } finally {
    db.close();
  }
}

/** As `check`, with what is wrong as a result: errors lose their codes on their way to another thread. */
export function checkCopy(path: string): CopyCheck {
  try {
    check(path);
    return {};
  } catch (error) {
    return { reason: reasonOf(error, path), isFaultOfPlace: isFaultOfPlace(error) };
  }
}
