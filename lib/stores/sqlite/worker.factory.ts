import { isBuiltin } from 'node:module';
import { Worker } from 'node:worker_threads';

import { errorMessage } from '../../client/error.util.js';
import { PackageError } from '../../common/relay.errors.js';
import { findLibsql } from './libsql.util.cjs';
import type { CopyCheckData, SqliteWorkerData } from './sqlite-worker.interface.js';
import { sqliteWorkerSource } from './sqlite-worker.source.js';

/**
 * Starts a thread that uses SQLite.
 *
 * @param describe converts a reason to the message of an error
 * @throws {PackageError} when Node has no `node:sqlite`, and `libsql` is not installed
 */
export function startWorker(
  data: Omit<SqliteWorkerData, 'libsql'> | Omit<CopyCheckData, 'libsql'>,
  describe: (reason: string) => string,
): Worker {
  let libsql: string | undefined;
  try {
    libsql = isBuiltin('node:sqlite') ? undefined : findLibsql();
  } catch (cause) {
    throw new PackageError('package_missing', describe(errorMessage(cause)), { cause });
  }
  return new Worker(sqliteWorkerSource, { eval: true, workerData: { ...data, libsql } });
}
