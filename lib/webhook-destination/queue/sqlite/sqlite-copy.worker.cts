import { parentPort, workerData } from 'node:worker_threads';

import Database from 'libsql';

import { isFaultOfPlace, reasonOf } from './sqlite.faults.cjs';
import { layoutOf } from './sqlite.layout.cjs';

/** Most problems listed for a damaged file. */
const MAX_PROBLEMS = 3;

/** What a check found: no reason when all is well. */
export interface CopyCheck {
  reason?: string;
  /** Whether the copy's disk or folder is at fault, not what was copied. */
  isFaultOfPlace?: boolean;
}

/** Puts a copied file and its log together in one file, and checks it. */
function check(path: string): void {
  const db = new Database(path);
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE');
    if (layoutOf(db) === 0) throw new Error('the file has no queue in it yet');
    db.exec('PRAGMA journal_mode = DELETE');
    const rows = db.pragma(`integrity_check(${MAX_PROBLEMS})`) as { integrity_check: string }[];
    const problems = rows.map((row) => row.integrity_check).join('; ');
    if (problems !== 'ok') throw new Error(`the file is damaged (${problems})`);
  } finally {
    db.close();
  }
}

/** The driver lets go of the file only with its thread, which ends here. */
function resultOf(path: string): CopyCheck {
  try {
    check(path);
    return {};
  } catch (error) {
    return { reason: reasonOf(error, path), isFaultOfPlace: isFaultOfPlace(error) };
  }
}

parentPort!.postMessage(resultOf(workerData as string));
