import { QueueUnavailableError } from '../../common/relay.errors.js';
import { isFaultOfPlace, reasonOf } from './sqlite-fault.util.js';
import { isEmpty } from './sqlite-layout.js';
import type { CopyCheck, CopyCheckData } from './sqlite-worker.interface.js';
import { connect, type SqliteConnection } from './sqlite.connection.js';

/** Maximum number of problems listed for a damaged file. */
const MAX_PROBLEMS = 3;

/**
 * Merges a copied file with its log, and checks the result. Returns what is wrong, because errors lose their codes on
 * the way to another thread.
 */
export function checkCopy({ copy: path, libsql }: CopyCheckData): CopyCheck {
  let db: SqliteConnection | undefined;
  try {
    db = connect(path, libsql);
    db.exec('PRAGMA locking_mode = EXCLUSIVE');
    if (isEmpty(db)) throw new QueueUnavailableError('the file does not contain a queue yet');
    db.exec('PRAGMA journal_mode = DELETE');
    const rows = db.prepare(`PRAGMA integrity_check(${MAX_PROBLEMS})`).all() as { integrity_check: string }[];
    const problems = rows.map((row) => row.integrity_check).join('; ');
    if (problems !== 'ok') throw new QueueUnavailableError(`the file is damaged (${problems})`);
    return {};
  } catch (error) {
    return { reason: reasonOf(error, path), isFaultOfPlace: isFaultOfPlace(error) };
  } finally {
    db?.close();
  }
}
